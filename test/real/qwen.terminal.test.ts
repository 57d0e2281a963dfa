/** Qwen Code in a terminal. Nothing but a profile describes it. */
import { expect } from "bun:test";
import { driver, leaveQwen, openQwen, say } from "./qwen.ts";
import { answering, reply } from "./server/scenario.ts";
import { testInTerminal } from "./terminal-story.ts";

const SUMMARY = "<state_snapshot>A greeting was written and made bigger.</state_snapshot>";

await testInTerminal(driver, {
  made: ".qwen/settings.json",
  leaves: '{\n  "$version": 4\n}\n',
  open: openQwen,
  leave: leaveQwen,
  say,
  async stop(terminal) {
    terminal.press("Escape");
    await terminal.waitFor(/cancelled/i);
  },
  asides: [answering(/state_snapshot/, reply(SUMMARY))],
  compaction: { command: "/compress", done: /compressed from/i },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses write_file",
    "assistant uses run_shell_command",
    expect.stringMatching(/^result: Successfully created/),
    expect.stringMatching(/^result: /),
  ],
});
