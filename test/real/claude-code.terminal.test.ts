/** Claude Code in a terminal, where subagents run in the background. */
import { expect, test } from "bun:test";
import { driver, leaveClaude, openByShell, openClaude } from "./claude-code.ts";
import { reply, scenario, toolUse } from "./server/scenario.ts";
import { SECOND, type TerminalStory, TIMEOUT_MS } from "./terminal-page.ts";
import { testInTerminal } from "./terminal-story.ts";

await testInTerminal(driver, {
  made: ".claude/settings.local.json",
  open: (rig, command) => (command ? openByShell(rig, command) : openClaude(rig)),
  leave: leaveClaude,
  async stop(terminal) {
    terminal.press("Escape");
    await terminal.waitFor("Interrupted");
  },
  shows: "Backtrail",
  background: {
    begin: reply(
      "And a subagent.",
      toolUse("Agent", {
        description: "Write the helper",
        prompt: "[[subtask]] Write helper.txt",
        subagent_type: "general-purpose",
      }),
    ),
    done: reply("The subagent is done."),
    subtask: (project) =>
      scenario("subtask", [
        reply("Writing.", driver.tools.write(`${project}/helper.txt`, "by the subagent\n")),
        reply("It is written."),
      ]),
  },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses Write",
    "assistant uses Bash",
    expect.stringMatching(/^result: File created successfully/),
    expect.stringMatching(/^result: /),
  ],
  middle: true,
  own: { second: worksInTheBackground },
});

function worksInTheBackground(story: TerminalStory): void {
  test(
    "a subagent in the background belongs to the turn that started it",
    async () => {
      const { backtrail } = story;
      const task = await backtrail.waitForStep(
        (step) => step.kind === "task" && step.files.added.includes("helper.txt"),
      );
      const start = await backtrail.step("turn-start", SECOND);
      // Claude Code itself tells the model that the subagent is done: a turn that no user began.
      await backtrail.waitForStep((step) => step.kind === "turn-end" && step.turn === start.turn + 1);
      expect(task).toMatchObject({ turn: start.turn, parent: start.id });
    },
    TIMEOUT_MS,
  );
}
