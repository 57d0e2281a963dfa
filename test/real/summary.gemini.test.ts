/** A summary by the real Gemini CLI. */
import { teller } from "./gemini.ts";
import { tellSummary } from "./summary-story.ts";

await tellSummary(teller, "gemini");
