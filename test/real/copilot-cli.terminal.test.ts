/** Copilot CLI in a terminal, in a folder that its user trusts. */
import { expect } from "bun:test";
import { driver, leaveCopilot, openCopilot } from "./copilot-cli.ts";
import { testInTerminal } from "./terminal-story.ts";

await testInTerminal(driver, {
  made: ".github",
  first: {
    title: "in a folder that the user trusts, turns are recorded while it is open",
    open: (rig) => openCopilot(rig),
  },
  open: openCopilot,
  leave: leaveCopilot,
  async stop(terminal) {
    terminal.press("Escape");
    await terminal.waitFor(/esc again|Operation cancelled/i);
    terminal.press("Escape");
    await terminal.waitFor("Operation cancelled by user");
  },
  // It puts the time before each prompt.
  echo: (prompt) => new RegExp(`You said: [\\dT:.+-]+[\\s┃]+${prompt}`),
  compaction: { command: "/compact", done: "Compaction completed" },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses create",
    "assistant uses bash",
    expect.stringMatching(/^result: Created file/),
    expect.stringMatching(/^result: /),
  ],
  middle: true,
});
