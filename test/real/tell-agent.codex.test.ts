import { codex, prompt, resume, UNREVIEWED } from "./codex.ts";
import { availability, Rig } from "./rig.ts";
import { toolUse } from "./server/scenario.ts";
import { tellsTheAgent } from "./tell-agent.ts";

tellsTheAgent({
  name: "Codex",
  id: "codex",
  available: await availability(codex),
  start: (program, scenarios) => Rig.start(codex, program, scenarios),
  writes: (path, content) => {
    const lines = content.trimEnd().split("\n");
    const patch = ["*** Begin Patch", `*** Add File: ${path}`, ...lines.map((line) => `+${line}`), "*** End Patch", ""];
    return toolUse("exec", { input: `text(await tools.apply_patch(${JSON.stringify(patch.join("\n"))}));` });
  },
  prompt: (rig, text, session) => (session ? resume(rig, session, text, UNREVIEWED) : prompt(rig, text, UNREVIEWED)),
  resume: (rig, { session }, text) => resume(rig, session, text, UNREVIEWED),
});
