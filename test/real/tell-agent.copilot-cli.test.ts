import { copilot, prompt, shellPrompt } from "./copilot-cli.ts";
import { availability, Rig } from "./rig.ts";
import { toolUse } from "./server/scenario.ts";
import { tellsTheAgent } from "./tell-agent.ts";

tellsTheAgent({
  name: "Copilot",
  id: "copilot-cli",
  available: await availability(copilot),
  start: (program, scenarios) => Rig.start(copilot, program, scenarios),
  writes: (path, file_text) => toolUse("create", { path, file_text }),
  prompt: (rig, text, session) => prompt(rig, text, ...(session ? [`--resume=${session}`] : [])),
  resume: (rig, { command }, text) => shellPrompt(rig, command, text),
});
