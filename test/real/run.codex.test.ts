/** Headless runs with the real Codex. */
import { driver, UNREVIEWED } from "./codex.ts";
import { testRuns } from "./run-story.ts";

await testRuns(driver, {
  name: "codex",
  args: (rig) => ["-c", `model_providers.local.base_url="${rig.env["MODEL_URL"]}/v1"`, UNREVIEWED],
  refusal: /codex ended with status 1: .*this is not possible/,
});
