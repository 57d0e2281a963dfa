/** OpenCode in a terminal: an interruption, a compaction, and the command that a rewind shows, typed as it is. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Backtrail, type Restored } from "./backtrail.ts";
import { leaveOpenCode, openByShell, openCode, openCodeAvailability } from "./opencode.ts";
import { makeProject, readIn } from "./project.ts";
import { Rig } from "./rig.ts";
import { answering, reply, type Scenario, scenario, stalling, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Go on for ever [[endless]]";
const THIRD = "Are you still there?";

const available = await openCodeAvailability();

describe.skipIf(available.program === null)("OpenCode, in a terminal", () => {
  let rig: Rig;
  let backtrail: Backtrail;

  beforeAll(async () => {
    rig = await Rig.start(openCode, available.program ?? "", scenarios);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
    await rig.output(["backtrail", "enable", "--agent", "opencode"]);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test(
    "turns, one of them interrupted, and a compaction",
    async () => {
      const terminal = await openByShell(rig);
      await terminal.submit(FIRST);
      await terminal.waitFor("Hello is there.");
      const first = await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === FIRST);
      expect(first.files.added).toEqual(["greeting.txt"]);

      await terminal.submit(SECOND);
      await terminal.waitFor("And so on");
      // The first press only warns, and says so where the hint was.
      terminal.press("Escape");
      await terminal.waitFor("again to interrupt");
      terminal.press("Escape");
      const second = await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === SECOND);
      expect(await backtrail.show(second.id)).toMatchObject({ interrupted: true, response: "And so on and on" });

      await terminal.submit("/compact");
      await terminal.waitFor("In short: hello.");
      await terminal.submit(THIRD);
      const third = await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === THIRD);
      expect(third.turn).toBe(3);
      const turnEnds = (await backtrail.steps()).filter((step) => step.kind === "turn-end");
      expect(turnEnds.map((step) => step.turn)).toEqual([1, 2, 3]);
      await leaveOpenCode(terminal);
    },
    TIMEOUT_MS,
  );

  test(
    "the command that a rewind shows opens the conversation as it was before the compaction",
    async () => {
      const end = await backtrail.step("turn-end", FIRST);
      const { receipt } = await backtrail.json<Restored>("rewind", end.id, "--yes");
      expect(readIn(rig, "greeting.txt")).toBe("hello\n");

      const terminal = await openByShell(rig, receipt?.chat?.command);
      await terminal.waitFor("Hello is there.");
      await terminal.submit("Where were we?");
      await terminal.waitFor("You said: Where were we?");
      expect(rig.received.lastOutline()).toEqual([
        `user: ${FIRST}`,
        "assistant: I will write it.",
        "assistant uses write",
        expect.stringMatching(/^result: Wrote file/),
        "assistant: Hello is there.",
        "user: Where were we?",
      ]);
      await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === "Where were we?");
      await leaveOpenCode(terminal);
      expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    },
    TIMEOUT_MS,
  );
});

function scenarios(project: string): Scenario[] {
  return [
    // The request for a summary quotes the conversation, markers and all.
    answering(/summary/i, reply("## Goal\nIn short: hello.")),
    scenario("first", [
      reply("I will write it.", toolUse("write", { filePath: join(project, "greeting.txt"), content: "hello\n" })),
      reply("Hello is there."),
    ]),
    scenario("endless", [stalling(reply("And so on and on"))]),
  ];
}
