/** Kilo in a terminal. */
import { expect } from "bun:test";
import { driver, leaveKilo, openByShell } from "./kilo.ts";
import { answering, reply } from "./server/scenario.ts";
import { testInTerminal } from "./terminal-story.ts";

await testInTerminal(driver, {
  made: ".kilo/plugin/backtrail.js",
  async open(rig, command) {
    const terminal = await openByShell(rig, command);
    // What was said before is shown again.
    if (command) await terminal.waitFor("Hello is there.");
    return terminal;
  },
  leave: leaveKilo,
  async stop(terminal) {
    // The first press only warns, and says so where the hint was.
    terminal.press("Escape");
    await terminal.waitFor("again to interrupt");
    terminal.press("Escape");
  },
  endsAtOnce: true,
  keepsHalf: true,
  // The request for a summary quotes the conversation, markers and all.
  asides: [answering(/summary/i, reply("## Goal\nIn short: hello."))],
  compaction: { command: "/compact", done: "In short: hello." },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses write",
    "assistant uses bash",
    expect.stringMatching(/^result: Wrote file/),
    expect.stringMatching(/^result: /),
  ],
});
