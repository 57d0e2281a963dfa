/** The whole of Backtrail with the real Pi, without a terminal; what it keeps nowhere; and where no project is trusted. */
import { expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Story, TIMEOUT_MS } from "./headless-page.ts";
import { testHeadless } from "./headless-story.ts";
import { driver, prompt, subagentExtension } from "./pi.ts";
import { toolUse } from "./server/scenario.ts";

await testHeadless(driver, {
  adds: "the extension, says when it is read",
  says: "--approve",
  settings: { path: ".pi/extensions/backtrail/index.ts", hook: "turn-start" },
  made: ".pi",
  relative: true,
  // Its subagents are other Pis.
  subagent: { begin: (task) => toolUse("subagent", { agent: "worker", task }), alone: true },
  async second(rig, text, session) {
    const { program } = await driver.available();
    return prompt(rig, text, "--session", session, "-e", subagentExtension(program ?? ""));
  },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses write",
    "assistant uses read",
    expect.stringMatching(/^result: Successfully wrote/),
    expect.stringMatching(/^result: alpha/),
    "assistant: Two more things.",
    "assistant uses edit",
    "assistant uses bash",
    expect.stringMatching(/^result: Successfully replaced/),
    expect.stringMatching(/^result: /),
  ],
  command: ({ session }) => `pi --session ${session}`,
  own: { sound: keepsNothing, disabled: recordsForTheUser },
});

function keepsNothing(story: Story): void {
  test("a conversation that Pi keeps nowhere is not recorded, and is not disturbed", async () => {
    const before = await story.backtrail.steps();
    const done = await prompt(story.rig, "Forget this", "--no-session");
    expect(done).toMatchObject({ code: 0, result: "You said: Forget this" });
    expect(await story.backtrail.steps()).toEqual(before);
  });
}

function recordsForTheUser(story: Story): void {
  test(
    "enabled for all of the user's repositories, it records where no project is trusted",
    async () => {
      const { rig, backtrail } = story;
      rmSync(join(rig.home, ".pi/agent/trust.json"));
      await rig.output(["backtrail", "enable", "--agent", "pi", "--scope", "user"]);
      expect(existsSync(join(rig.project, ".pi"))).toBe(false);
      expect(await prompt(rig, "Without trust")).toMatchObject({ code: 0, result: "You said: Without trust" });
      expect(await backtrail.step("turn-end", "Without trust")).toMatchObject({ agent: "pi", turn: 1 });
      await rig.output(["backtrail", "disable", "--scope", "user"]);
      expect(existsSync(join(rig.home, ".pi/agent/extensions"))).toBe(false);
    },
    TIMEOUT_MS,
  );
}
