/** Qwen Code in a terminal. Nothing but a profile describes it. */
import { PAGE } from "./gemini-page.ts";
import { driver, leaveQwen, openQwen, say } from "./qwen.ts";
import { testInTerminal } from "./terminal-story.ts";

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
  ...PAGE,
});
