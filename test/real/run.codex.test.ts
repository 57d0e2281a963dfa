/** Headless runs with the real Codex. */
import { codex, UNREVIEWED } from "./codex.ts";
import { availability } from "./rig.ts";
import { tellRuns } from "./run-story.ts";
import { toolUse } from "./server/scenario.ts";

tellRuns(codex, await availability(codex), {
  id: "codex",
  name: "codex",
  write: (path, content) => {
    const cmd = `printf '${content.replace("\n", "\\n")}' > ${path}`;
    return toolUse("exec", { input: `text(await tools.exec_command(${JSON.stringify({ cmd })}));` });
  },
  args: (rig) => ["-c", `model_providers.local.base_url="${rig.env["MODEL_URL"]}/v1"`, UNREVIEWED],
  refusal: /codex ended with status 1: .*this is not possible/,
});
