/** A summary by the real Claude Code. */
import { driver } from "./claude-code.ts";
import { testSummary } from "./summary-story.ts";

await testSummary(driver, "claude");
