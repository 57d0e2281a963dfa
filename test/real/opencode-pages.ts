/** The pages of OpenCode and its relatives for the stories, which differ only by the program's name. */
import { expect } from "bun:test";
import type { HeadlessPage } from "./headless-page.ts";
import type { Rig } from "./rig.ts";
import { answering, reply, toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";
import type { TerminalPage } from "./terminal-page.ts";

export function headlessPage(program: string): HeadlessPage {
  return {
    adds: "the plugin",
    settings: { path: `.${program}/plugin/backtrail.js`, hook: "turn-start" },
    subagent: {
      begin: (prompt) => toolUse("task", { description: "Write the helper", prompt, subagent_type: "general" }),
    },
    firstTurn: [
      "assistant: I will write it.",
      "assistant uses write",
      "assistant uses read",
      expect.stringMatching(/^result: Wrote file/),
      expect.stringMatching(/^result: /),
      "assistant: Two more things.",
      "assistant uses edit",
      "assistant uses bash",
      expect.stringMatching(/^result: Edit applied/),
      expect.stringMatching(/^result: /),
    ],
    sessionId: /^ses_[0-9a-f]{12}\w{14}$/,
    command: ({ transcript, session }) => `${program} import ${transcript} && ${program} -s ${session}`,
  };
}

/** `open`: opens the agent in a terminal by a command, ready for a prompt. */
export function terminalPage(
  program: string,
  open: (rig: Rig, command?: string) => Promise<Terminal>,
  leave: (terminal: Terminal) => Promise<void>,
): TerminalPage {
  return {
    made: `.${program}/plugin/backtrail.js`,
    async open(rig, command) {
      const terminal = await open(rig, command);
      // The conversation so far is shown again.
      if (command) await terminal.waitFor("Hello is there.");
      return terminal;
    },
    leave,
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
  };
}
