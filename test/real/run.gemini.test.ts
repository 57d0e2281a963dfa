/** Headless runs with the real Gemini CLI. */
import { geminiCli } from "./gemini.ts";
import { availability } from "./rig.ts";
import { tellRuns } from "./run-story.ts";
import { toolUse } from "./server/scenario.ts";

tellRuns(geminiCli, await availability(geminiCli), {
  id: "gemini",
  name: "gemini",
  write: (path, content) => toolUse("write_file", { file_path: path, content }),
  refusal: /gemini ended with status 144: .*this is not possible/,
});
