/** Headless runs with the real Copilot CLI. */
import { teller } from "./copilot-cli.ts";
import { tellRuns } from "./run-story.ts";

await tellRuns(teller, {
  name: "copilot",
  // The folder's hooks run only where it is trusted.
  env: { COPILOT_ALLOW_ALL: "true" },
  refusal: /copilot ended with status 1: .*this is not possible/,
});
