/** Headless runs with the real Copilot CLI. */
import { copilot } from "./copilot-cli.ts";
import { availability } from "./rig.ts";
import { tellRuns } from "./run-story.ts";
import { toolUse } from "./server/scenario.ts";

tellRuns(copilot, await availability(copilot), {
  id: "copilot-cli",
  name: "copilot",
  write: (path, content) => toolUse("create", { path, file_text: content }),
  // The folder's hooks run only where it is trusted.
  env: { COPILOT_ALLOW_ALL: "true" },
  refusal: /copilot ended with status 1: .*this is not possible/,
});
