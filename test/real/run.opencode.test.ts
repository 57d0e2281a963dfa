/** Headless runs with the real OpenCode. */
import { openCode, openCodeAvailability } from "./opencode.ts";
import { tellRuns } from "./run-story.ts";
import { toolUse } from "./server/scenario.ts";

tellRuns(openCode, await openCodeAvailability(), {
  id: "opencode",
  name: "opencode",
  write: (path, content) => toolUse("write", { filePath: path, content }),
  refusal: /opencode ended with status 1: .*this is not possible/,
});
