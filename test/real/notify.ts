/**
 * One story for every agent: a turn is undone while the agent is in the middle of the next one, as a user does in
 * another terminal. The model must receive a notice with the prompt after that, and with no other one.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentDriver, Answered } from "./agent-driver.ts";
import { Backtrail, type Restored } from "./backtrail.ts";
import { makeProject } from "./project.ts";
import type { Rig } from "./rig.ts";
import { reply, scenario } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const REASON = "One file is enough.";
/** Ends by itself if the test does not end it. Gemini CLI refuses commands with `$(…)`. */
const WAIT = "timeout 60 sh -c 'until [ -e go.txt ]; do sleep 0.1; done'";

type Receipt = NonNullable<Restored["receipt"]> & {
  openSessions: { agent: string; session: string; working: boolean; notified: boolean }[];
};

export async function notifiesTheAgent(driver: AgentDriver): Promise<void> {
  const { program } = await driver.available();
  describe.skipIf(program === null)(`${driver.name} is notified`, () => {
    let rig: Rig;
    let backtrail: Backtrail;
    let session: string;

    beforeAll(async () => {
      rig = await driver.start(program ?? "", (project) => [
        scenario("one", [
          reply("I will write one.", driver.tools.write(join(project, "one.txt"), "one\n")),
          reply("one is there."),
        ]),
        scenario("two", [reply("I will wait.", driver.tools.shell(WAIT)), reply("two is there.")]),
        scenario("three", [reply("three is there.")]),
        scenario("four", [reply("four is there.")]),
      ]);
      await makeProject(rig);
      backtrail = new Backtrail(rig);
      await rig.output(["backtrail", "enable", "--agent", driver.id]);
      session = (await ask("one")).sessionId;
    }, TIMEOUT_MS);

    afterAll(async () => {
      await rig?.stop();
    });

    test(
      "of an undo while it was open, with its next prompt and only there",
      async () => {
        const { id } = await backtrail.step("turn-end", "Go on [[one]]");
        const working = ask("two", session);
        await backtrail.waitForStep(({ kind, prompt }) => kind === "turn-start" && prompt === "Go on [[two]]");
        const undone = await backtrail.json<{ receipt: Receipt }>("undo", id, "--yes", "--reason", REASON);
        expect(undone.receipt.openSessions).toMatchObject([{ agent: driver.id, working: true, notified: true }]);
        writeFileSync(join(rig.project, "go.txt"), "");
        await working;
        expect(sent("two")).not.toContain("[Backtrail]");

        await ask("three", session);
        const received = sent("three");
        expect(received.match(/\[Backtrail\]/g)).toHaveLength(1);
        expect(received).toContain("1 file removed: one.txt.");
        expect(received).toContain(REASON);

        await ask("four", session);
        // At most once in the conversation that goes on: agents may keep it, and nobody says it again.
        expect(sent("four").match(/\[Backtrail\]/g)?.length ?? 0).toBeLessThanOrEqual(1);
      },
      TIMEOUT_MS,
    );

    async function ask(name: string, of?: string): Promise<Answered> {
      const done = await driver.turn(rig, `Go on [[${name}]]`, of);
      expect(done, done.stderr).toMatchObject({ code: 0 });
      return done;
    }

    /** All that the model was sent when it was asked this last. */
    function sent(name: string): string {
      const calls = rig.received
        .calls()
        .map(({ instructions, conversation }) => JSON.stringify([instructions, conversation]));
      return calls.findLast((call) => call.includes(`[[${name}]]`)) ?? "";
    }
  });
}
