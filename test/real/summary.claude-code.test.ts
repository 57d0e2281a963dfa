/** A summary by the real Claude Code. */
import { teller } from "./claude-code.ts";
import { tellSummary } from "./summary-story.ts";

await tellSummary(teller, "claude");
