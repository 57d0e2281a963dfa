/** What Gemini CLI and Qwen Code have in common in the story in a terminal. */
import { expect } from "bun:test";
import { answering, reply } from "./server/scenario.ts";

export const SUMMARY = "<state_snapshot>A greeting was written and made bigger.</state_snapshot>";

export const PAGE = {
  asides: [answering(/state_snapshot/, reply(SUMMARY))],
  // Only what its user asks for: what the agent thinks of itself before every call to the model is no step.
  compaction: { command: "/compress", done: /compressed from/i },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses write_file",
    "assistant uses run_shell_command",
    expect.stringMatching(/^result: Successfully created/),
    expect.stringMatching(/^result: /),
  ],
};
