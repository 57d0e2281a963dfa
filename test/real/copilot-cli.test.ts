/** The whole of Backtrail with the real Copilot CLI, without a terminal; and beside Claude Code's hooks. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { driver, prompt } from "./copilot-cli.ts";
import { type Story, TIMEOUT_MS } from "./headless-page.ts";
import { testHeadless } from "./headless-story.ts";
import { toolUse } from "./server/scenario.ts";

await testHeadless(driver, {
  alias: "copilot",
  quiet: true,
  adds: "a file of hooks, says that the folder must be trusted",
  says: "only where you trust its folder",
  settings: { path: ".github/hooks/backtrail.json", hook: "user-prompt-submitted" },
  made: ".github",
  subagent: {
    begin: (prompt) =>
      toolUse("task", {
        description: "Write the helper",
        prompt,
        agent_type: "general-purpose",
        name: "helper",
        mode: "sync",
      }),
    alone: true,
  },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses create",
    expect.stringMatching(/^result: Created file/),
    "assistant: Two more things.",
    "assistant uses edit",
    "assistant uses bash",
    expect.stringMatching(/^result: File .* updated/),
    expect.stringMatching(/^result: /),
  ],
  transcript: (rig, session) => join(rig.home, ".copilot/session-state", session, "events.jsonl"),
  command: ({ session }) => `copilot --resume=${session}`,
  own: { redone: recordsNothingTwice },
});

function recordsNothingTwice(story: Story): void {
  test(
    "Claude Code's hooks, which Copilot runs too, record nothing twice",
    async () => {
      await story.rig.output(["backtrail", "enable", "--agent", "claude-code"]);
      const { sessionId, stderr } = await prompt(story.rig, "Once more");
      expect(stderr).toBe("");
      const steps = (await story.backtrail.steps()).filter((step) => step.session === sessionId);
      expect(steps.map(({ kind, agent }) => [kind, agent])).toEqual([
        ["turn-start", "copilot-cli"],
        ["turn-end", "copilot-cli"],
      ]);
    },
    TIMEOUT_MS,
  );
}
