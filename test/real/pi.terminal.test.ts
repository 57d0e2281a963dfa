/**
 * Pi in a terminal: the question whether the project is trusted, an interruption, a branch that is left, a compaction, and
 * the commands that rewinds show, typed as they are.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type Restored } from "./backtrail.ts";
import { leavePi, openPi, piAvailability, startPi } from "./pi.ts";
import { makeProject, readIn } from "./project.ts";
import type { Rig } from "./rig.ts";
import { answering, reply, type Scenario, scenario, stalling, toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const TIMEOUT_MS = 180_000;
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Go on for ever [[endless]]";
const THIRD = "Take another way";
const FOURTH = "Are you still there?";
const FIRST_TURN = [
  `user: ${FIRST}`,
  "assistant: I will write it.",
  "assistant uses write",
  expect.stringMatching(/^result: Successfully wrote/),
  "assistant: Hello is there.",
];

const available = await piAvailability();

describe.skipIf(available.program === null)("Pi, in a terminal", () => {
  let rig: Rig;
  let backtrail: Backtrail;

  beforeAll(async () => {
    rig = await startPi(available.program ?? "", scenarios);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
    await rig.output(["backtrail", "enable", "--agent", "pi"]);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test(
    "once the project is trusted: turns, one of them interrupted, one on another branch, and a compaction",
    async () => {
      rmSync(join(rig.home, ".pi/agent/trust.json"));
      const terminal = await rig.terminal(["pi"]);
      await terminal.waitFor(/trust/i);
      terminal.press("Enter");
      await terminal.waitFor("[Extensions]");

      await terminal.submit(FIRST);
      await terminal.waitFor("Hello is there.");
      const first = await turnEnd(FIRST);
      expect(first.files.added).toEqual(["greeting.txt"]);

      await terminal.submit(SECOND);
      await terminal.waitFor("And so on");
      terminal.press("Escape");
      const second = await turnEnd(SECOND);
      expect(await backtrail.show(second.id)).toMatchObject({ interrupted: true, response: "And so on and on" });

      await leaveBranch(terminal);
      await terminal.submit(THIRD);
      await turnEnd(THIRD);
      expect(rig.received.lastOutline()).toEqual([...FIRST_TURN, `user: ${THIRD}`]);

      await terminal.submit("/compact");
      await terminal.waitFor("[compaction]");
      await terminal.submit(FOURTH);
      await turnEnd(FOURTH);
      const turnEnds = (await backtrail.steps()).filter((step) => step.kind === "turn-end");
      expect(turnEnds.map((step) => step.turn)).toEqual([1, 2, 3, 4]);
      await leavePi(terminal);
    },
    TIMEOUT_MS,
  );

  test(
    "rewound to before the turn on the other branch, it is the branch's conversation, without the one that was left",
    async () => {
      const start = await backtrail.step("turn-start", THIRD);
      expect(await afterRewind(start.id)).toEqual([...FIRST_TURN, "user: Where were we?"]);
      expect(readIn(rig, "greeting.txt")).toBe("hello\n");
    },
    TIMEOUT_MS,
  );

  test(
    "rewound to the end of the turn that was left, it is that one's, although the next turn began elsewhere",
    async () => {
      const heard = await afterRewind((await backtrail.step("turn-end", SECOND)).id);
      expect(heard.filter((line) => line.startsWith("user: "))).toEqual([
        `user: ${FIRST}`,
        `user: ${SECOND}`,
        "user: Where were we?",
      ]);
      expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    },
    TIMEOUT_MS,
  );

  function turnEnd(prompt: string) {
    return backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === prompt);
  }

  /** What the model hears once the command that the rewind shows is typed and the agent is asked. */
  async function afterRewind(step: string): Promise<string[]> {
    const { receipt } = await backtrail.json<Restored>("rewind", step, "--yes");
    const terminal = await openPi(rig, receipt?.chat?.command);
    await terminal.waitFor("Hello is there.");
    await terminal.submit("Where were we?");
    await terminal.waitFor("You said: Where were we?");
    await backtrail.waitForStep(({ kind, session }) => kind === "turn-end" && session === receipt?.chat?.session);
    await leavePi(terminal);
    return rig.received.lastOutline();
  }
});

/** Back to the end of the first turn, in the same session. */
async function leaveBranch(terminal: Terminal): Promise<void> {
  await terminal.submit("/tree");
  await terminal.waitFor("› • assistant: And so on");
  terminal.press("Up");
  terminal.press("Up");
  await terminal.waitFor("› • assistant: Hello is there.");
  terminal.press("Enter");
  await terminal.waitFor("→ No summary");
  terminal.press("Enter");
  await terminal.waitFor("Navigated to selected point");
}

function scenarios(project: string): Scenario[] {
  return [
    answering(/summar/i, reply("## Goal\nIn short: hello.")),
    scenario("first", [
      reply("I will write it.", toolUse("write", { path: join(project, "greeting.txt"), content: "hello\n" })),
      reply("Hello is there."),
    ]),
    scenario("endless", [stalling(reply("And so on and on"))]),
  ];
}
