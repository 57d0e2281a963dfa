import { geminiCli, prompt, shellPrompt } from "./gemini.ts";
import { availability, Rig } from "./rig.ts";
import { toolUse } from "./server/scenario.ts";
import { tellsTheAgent } from "./tell-agent.ts";

tellsTheAgent({
  name: "Gemini CLI",
  id: "gemini",
  available: await availability(geminiCli),
  start: (program, scenarios) => Rig.start(geminiCli, program, scenarios),
  writes: (file_path, content) => toolUse("write_file", { file_path, content }),
  prompt: (rig, text, session) => prompt(rig, text, ...(session ? ["--resume", session] : [])),
  resume: (rig, { command }, text) => shellPrompt(rig, command, text),
});
