/** A summary by the real Claude Code. */
import { claudeCode } from "./claude-code.ts";
import { availability } from "./rig.ts";
import { toolUse } from "./server/scenario.ts";
import { tellSummary } from "./summary-story.ts";

tellSummary(claudeCode, await availability(claudeCode), {
  id: "claude-code",
  name: "claude",
  write: (path, content) => toolUse("Write", { file_path: path, content }),
});
