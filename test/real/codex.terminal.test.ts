/** Codex in a terminal, where its user reviews the hooks. */
import { expect, test } from "bun:test";
import {
  driver,
  leaveCodex,
  NOTIFY,
  openByShell,
  openCodex,
  PLAIN_MODEL,
  PLAIN_TOOLS,
  prompt,
  TITLES,
  trustHooks,
  whenReady,
} from "./codex.ts";
import { type TerminalStory, TIMEOUT_MS } from "./terminal-page.ts";
import { testInTerminal } from "./terminal-story.ts";

const MODEL = ["-m", PLAIN_MODEL];

await testInTerminal(driver, {
  made: ".codex/hooks.json",
  first: {
    title: "Codex asks its user to review the hooks, and runs them from then on",
    async open(rig) {
      // Told of twice, a turn is still one.
      const terminal = await openCodex(rig, ...MODEL, ...NOTIFY);
      await trustHooks(terminal);
      return terminal;
    },
  },
  open: (rig, command = "codex") => openByShell(rig, command, ...MODEL),
  leave: leaveCodex,
  async stop(terminal) {
    terminal.press("Escape");
  },
  endsAtOnce: true,
  between: whenReady,
  shows: "Backtrail",
  tools: PLAIN_TOOLS,
  model: PLAIN_MODEL,
  asides: [TITLES],
  compaction: { command: "/compact", done: "Context compacted" },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses apply_patch",
    "assistant uses exec_command",
    expect.stringMatching(/^result: /),
    expect.stringMatching(/^result: /),
  ],
  heard: (rig, session) => rig.received.lastOutline({ session }),
  middle: true,
  own: { redone: recordsWithoutTerminal },
});

function recordsWithoutTerminal(story: TerminalStory): void {
  test(
    "hooks that were reviewed run without a terminal as well",
    async () => {
      const { sessionId } = await prompt(story.rig, "Do you record?");
      expect(await story.backtrail.step("turn-end", "Do you record?")).toMatchObject({ session: sessionId });
    },
    TIMEOUT_MS,
  );
}
