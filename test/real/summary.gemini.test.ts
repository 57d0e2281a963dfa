/** A summary by the real Gemini CLI. */
import { driver } from "./gemini.ts";
import { testSummary } from "./summary-story.ts";

await testSummary(driver, "gemini");
