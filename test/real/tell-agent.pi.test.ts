import { piAvailability, prompt, shellPrompt, startPi } from "./pi.ts";
import { toolUse } from "./server/scenario.ts";
import { tellsTheAgent } from "./tell-agent.ts";

tellsTheAgent({
  name: "Pi",
  id: "pi",
  available: await piAvailability(),
  start: startPi,
  writes: (path, content) => toolUse("write", { path, content }),
  prompt: (rig, text, session) => prompt(rig, text, ...(session ? ["--session", session] : [])),
  resume: (rig, { command }, text) => shellPrompt(rig, command, text),
});
