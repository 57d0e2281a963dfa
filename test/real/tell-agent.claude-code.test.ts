import { claudeCode, prompt, shellPrompt } from "./claude-code.ts";
import { availability, Rig } from "./rig.ts";
import { toolUse } from "./server/scenario.ts";
import { tellsTheAgent } from "./tell-agent.ts";

tellsTheAgent({
  name: "Claude Code",
  id: "claude-code",
  available: await availability(claudeCode),
  start: (program, scenarios) => Rig.start(claudeCode, program, scenarios),
  writes: (file_path, content) => toolUse("Write", { file_path, content }),
  prompt: (rig, text, session) => prompt(rig, text, ...(session ? ["--resume", session] : [])),
  resume: (rig, { command }, text) => shellPrompt(rig, command, text),
});
