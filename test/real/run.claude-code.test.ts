/** Headless runs with the real Claude Code. */
import { claudeCode } from "./claude-code.ts";
import { availability } from "./rig.ts";
import { tellRuns } from "./run-story.ts";
import { toolUse } from "./server/scenario.ts";

tellRuns(claudeCode, await availability(claudeCode), {
  id: "claude-code",
  name: "claude",
  write: (path, content) => toolUse("Write", { file_path: path, content }),
  refusal: /claude ended with status 1: API Error: 400 this is not possible/,
});
