/** Headless runs with the real Claude Code. */
import { driver } from "./claude-code.ts";
import { testRuns } from "./run-story.ts";

await testRuns(driver, {
  name: "claude",
  refusal: /claude ended with status 1: API Error: 400 this is not possible/,
});
