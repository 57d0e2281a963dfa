/** Headless runs with the real Codex. */
import { teller, UNREVIEWED } from "./codex.ts";
import { tellRuns } from "./run-story.ts";

await tellRuns(teller, {
  name: "codex",
  args: (rig) => ["-c", `model_providers.local.base_url="${rig.env["MODEL_URL"]}/v1"`, UNREVIEWED],
  refusal: /codex ended with status 1: .*this is not possible/,
});
