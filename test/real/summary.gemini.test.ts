/** A summary by the real Gemini CLI. */
import { geminiCli } from "./gemini.ts";
import { availability } from "./rig.ts";
import { toolUse } from "./server/scenario.ts";
import { tellSummary } from "./summary-story.ts";

tellSummary(geminiCli, await availability(geminiCli), {
  id: "gemini",
  name: "gemini",
  write: (path, content) => toolUse("write_file", { file_path: path, content }),
});
