/** Pi in a terminal, where its user is asked whether the project is trusted, and leaves a branch of the conversation. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promptsHeard } from "./agent-driver.ts";
import { driver, leavePi, openPi } from "./pi.ts";
import { answering, reply } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";
import { AFTERWARDS, FIRST, SECOND, type TerminalStory, TIMEOUT_MS } from "./terminal-page.ts";
import { testInTerminal } from "./terminal-story.ts";

await testInTerminal(driver, {
  made: ".pi",
  first: {
    title: "once the project is trusted, a turn is recorded while the agent stays open",
    async open(rig) {
      rmSync(join(rig.home, ".pi/agent/trust.json"));
      const terminal = await rig.terminal(["pi"]);
      await terminal.waitFor(/trust/i);
      terminal.press("Enter");
      await terminal.waitFor("[Extensions]");
      return terminal;
    },
  },
  async open(rig, command) {
    const terminal = await openPi(rig, command);
    // What was said before is shown again.
    if (command) await terminal.waitFor(/Hello is there\.|It is bigger\./);
    return terminal;
  },
  leave: leavePi,
  async stop(terminal) {
    terminal.press("Escape");
  },
  endsAtOnce: true,
  keepsHalf: true,
  between: leaveBranch,
  asides: [answering(/summar/i, reply("## Goal\nIn short: hello."))],
  compaction: { command: "/compact", done: "[compaction]" },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses write",
    "assistant uses bash",
    expect.stringMatching(/^result: Successfully wrote/),
    expect.stringMatching(/^result: /),
  ],
  // The end of a turn that was left: the next one began elsewhere.
  middle: true,
  own: { broken: leftTheBranch, redone: goesToTheBranch },
});

/** Back to the end of the second turn, in the same session. */
async function leaveBranch(terminal: Terminal): Promise<void> {
  await terminal.submit("/tree");
  await terminal.waitFor("› • assistant: I am still thinking");
  while (!terminal.screen().includes("› • assistant: It is bigger.")) {
    const before = terminal.screen();
    await terminal.pressWhile("Up", (screen) => screen === before);
  }
  terminal.press("Enter");
  await terminal.waitFor("→ No summary");
  terminal.press("Enter");
  await terminal.waitFor("Navigated to selected point");
}

function leftTheBranch(story: TerminalStory): void {
  test("the model hears nothing of the branch that was left", () => {
    expect(promptsHeard(driver, story.rig)).toEqual([FIRST, SECOND, AFTERWARDS]);
    expect(story.rig.received.lastOutline().at(-2)).toBe("assistant: It is bigger.");
  });
}

function goesToTheBranch(story: TerminalStory): void {
  test(
    "rewound to before the turn on the other branch, it is the branch's conversation, without the one that was left",
    async () => {
      const heard = await story.afterRewind(await story.backtrail.step("turn-start", AFTERWARDS), "Which branch");
      expect(heard.filter((line) => line.startsWith("user: "))).toEqual([
        `user: ${FIRST}`,
        `user: ${SECOND}`,
        "user: Which branch",
      ]);
    },
    TIMEOUT_MS,
  );
}
