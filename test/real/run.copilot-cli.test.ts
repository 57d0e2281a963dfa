/** Headless runs with the real Copilot CLI. */
import { driver } from "./copilot-cli.ts";
import { testRuns } from "./run-story.ts";

await testRuns(driver, {
  name: "copilot",
  // The folder's hooks run only where it is trusted.
  env: { COPILOT_ALLOW_ALL: "true" },
  refusal: /copilot ended with status 1: .*this is not possible/,
});
