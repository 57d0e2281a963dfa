import { droid, nameModel, prompt, whereDroidRuns } from "./factoryai-droid.ts";
import { Rig } from "./rig.ts";
import { toolUse } from "./server/scenario.ts";
import { tellsTheAgent } from "./tell-agent.ts";

tellsTheAgent({
  name: "Droid",
  id: "factoryai-droid",
  available: await whereDroidRuns(),
  start: async (program, scenarios) => {
    const rig = await Rig.start(droid, program, scenarios);
    nameModel(rig);
    return rig;
  },
  writes: (file_path, content) => toolUse("Create", { file_path, content }),
  prompt: (rig, text, session) => prompt(rig, text, ...(session ? ["--session-id", session] : [])),
  resume: (rig, { session }, text) => prompt(rig, text, "--session-id", session),
});
