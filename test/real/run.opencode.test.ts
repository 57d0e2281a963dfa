/** Headless runs with the real OpenCode. */
import { driver } from "./opencode.ts";
import { testRuns } from "./run-story.ts";

await testRuns(driver, {
  name: "opencode",
  refusal: /opencode ended with status 1: .*this is not possible/,
});
