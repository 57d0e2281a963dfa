import { openCode, openCodeAvailability, prompt } from "./opencode.ts";
import { Rig } from "./rig.ts";
import { toolUse } from "./server/scenario.ts";
import { tellsTheAgent } from "./tell-agent.ts";

tellsTheAgent({
  name: "OpenCode",
  id: "opencode",
  available: await openCodeAvailability(),
  start: (program, scenarios) => Rig.start(openCode, program, scenarios),
  writes: (filePath, content) => toolUse("write", { filePath, content }),
  prompt: (rig, text, session) => prompt(rig, text, ...(session ? ["-s", session] : [])),
  resume: async (rig, { command, session }, text) => {
    await rig.output(["sh", "-c", command.split(" && ")[0] ?? ""]);
    return prompt(rig, text, "-s", session);
  },
});
