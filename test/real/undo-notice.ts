/**
 * One story for every agent: three turns; the second is undone, then the third is rewound, both with `--tell-agent`.
 * Checks what the model receives when the conversation continues.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, type Answered, heardBy } from "./agent-driver.ts";
import { Backtrail, type Restored } from "./backtrail.ts";
import { makeProject, readIn } from "./project.ts";
import type { Rig } from "./rig.ts";
import { reply, scenario } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const TURNS = ["one", "two", "three"] as const;
const UNDO_REASON = "Two is too many; keep to one file per idea.";
const REWIND_REASON = "Three was not asked for.";

type Chat = NonNullable<NonNullable<Restored["receipt"]>["chat"]>;

export async function testUndoNotice(driver: AgentDriver): Promise<void> {
  const { program } = await driver.available();
  describe.skipIf(program === null)(`${driver.name} is told`, () => {
    let rig: Rig;
    let backtrail: Backtrail;

    beforeAll(async () => {
      rig = await driver.start(program ?? "", (project) =>
        TURNS.map((name) =>
          scenario(name, [
            reply(`I will write ${name}.`, driver.tools.write(join(project, `${name}.txt`), `${name}\n`)),
            reply(`${name} is there.`),
          ]),
        ),
      );
      await makeProject(rig);
      backtrail = new Backtrail(rig);
      await rig.output(["backtrail", "enable", "--agent", driver.id]);
      let session: string | undefined;
      for (const name of TURNS) {
        const done: Answered = await driver.turn(rig, `Write a file [[${name}]]`, session);
        expect(done, done.stderr).toMatchObject({ code: 0 });
        session = done.sessionId;
      }
    }, TIMEOUT_MS);

    afterAll(async () => {
      await rig?.stop();
    });

    test(
      "of the turn that was undone, and what came later stays",
      async () => {
        const { id } = await backtrail.step("turn-end", "Write a file [[two]]");
        const { plan, receipt } = await backtrail.json<Restored>("undo", id, "--yes", "--reason", UNDO_REASON);
        expect(plan).toMatchObject({ write: [], delete: ["two.txt"] });
        expect([readIn(rig, "one.txt"), existsSync(join(rig.project, "two.txt")), readIn(rig, "three.txt")]).toEqual([
          "one\n",
          false,
          "three\n",
        ]);
        const heard = await goOn(receipt?.chat);
        // The whole conversation, the account behind it, then the prompt.
        expect(heard.prompts.slice(0, 3)).toEqual(TURNS.map((name) => `user: Write a file [[${name}]]`));
        expect(heard.account).toContain('turn 2 ("Write a file [[two]]")');
        expect(heard.account).toContain("1 file removed: two.txt.");
        expect(heard.account).toContain(UNDO_REASON);
        await backtrail.json("redo", "--yes");
        expect(readIn(rig, "two.txt")).toBe("two\n");
      },
      TIMEOUT_MS,
    );

    test(
      "of what was gone back from",
      async () => {
        const { id } = await backtrail.step("turn-end", "Write a file [[two]]");
        const { receipt } = await backtrail.json<Restored>(
          "rewind",
          id,
          "--yes",
          "--tell-agent",
          "--reason",
          REWIND_REASON,
        );
        expect([readIn(rig, "two.txt"), existsSync(join(rig.project, "three.txt"))]).toEqual(["two\n", false]);
        const heard = await goOn(receipt?.chat);
        expect(heard.prompts.slice(0, 2)).toEqual(["user: Write a file [[one]]", "user: Write a file [[two]]"]);
        expect(heard.prompts.join("\n")).not.toContain("[[three]]");
        expect(heard.account).toContain("to this point");
        expect(heard.account).toContain("three.txt");
        expect(heard.account).toContain(REWIND_REASON);
      },
      TIMEOUT_MS,
    );

    /** What the model is sent when the fork goes on: prompts, and the last words before the new one. */
    async function goOn(chat: Chat | null | undefined): Promise<{ prompts: string[]; account: string }> {
      expect(chat?.agent).toBe(driver.id);
      if (!chat) throw new Error("there is no conversation to go on with");
      const resumed = await driver.goOn(rig, chat.command, "Where were we?");
      expect(resumed, resumed.stderr).toMatchObject({ code: 0 });
      const said = heardBy(driver, rig);
      const text = said.join("\n");
      expect(text.trimEnd().endsWith("Where were we?")).toBe(true);
      const at = text.lastIndexOf("[Backtrail]");
      expect(at).toBeGreaterThan(text.lastIndexOf("is there."));
      return { prompts: said.filter((line) => line.startsWith("user: ")), account: text.slice(at) };
    }
  });
}
