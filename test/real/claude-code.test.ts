/** The whole of Backtrail with the real Claude Code, without a terminal. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { driver, prompt } from "./claude-code.ts";
import { type Story, TIMEOUT_MS } from "./headless-page.ts";
import { testHeadless } from "./headless-story.ts";
import { toolUse } from "./server/scenario.ts";

await testHeadless(driver, {
  quiet: true,
  adds: "hooks",
  settings: {
    path: ".claude/settings.local.json",
    hook: "user-prompt-submit",
    // Tabs, a key that nobody knows and no line end at the end: all of it must survive.
    users: '{\n\t"permissions": { "allow": ["Bash(ls:*)"] },\n\t"x-unknown": [1,2 , 3]}',
  },
  subagent: {
    begin: (prompt) =>
      toolUse("Agent", {
        description: "Write the helper",
        prompt,
        subagent_type: "general-purpose",
        run_in_background: false,
      }),
  },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses Write",
    "assistant uses Read",
    expect.stringMatching(/^result: File created successfully/),
    expect.stringContaining("alpha"),
    "assistant: Two more things.",
    "assistant uses Edit",
    "assistant uses Bash",
    expect.stringMatching(/^result: The file .* has been updated/),
    expect.stringMatching(/^result: /),
  ],
  transcript: ({ home, project }, session) =>
    join(home, ".claude/projects", project.replace(/[^A-Za-z0-9]/g, "-"), `${session}.jsonl`),
  command: ({ session }) => `claude --resume ${session}`,
  own: { disabled: recordsNothingMore },
});

function recordsNothingMore(story: Story): void {
  test(
    "from then on nothing is recorded, and the agent goes on",
    async () => {
      const recorded = () => story.rig.output(["git", "for-each-ref", "refs/backtrail"]);
      const before = await recorded();
      const { result } = await prompt(story.rig, "Is anybody listening?");
      expect(result).toBe("You said: Is anybody listening?");
      expect(await recorded()).toBe(before);
    },
    TIMEOUT_MS,
  );
}
