/**
 * The same with the real Codex in a terminal, where its user reviews the hooks, breaks a turn off and compacts the
 * conversation. The tests are one story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Backtrail, type Restored } from "./backtrail.ts";
import { codex, leaveCodex, NOTIFY, openByShell, openCodex, PLAIN_MODEL, prompt, TITLES, trustHooks } from "./codex.ts";
import { except, makeProject, readIn, type WorkTree, workTree } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { totalUsage } from "./server/received.ts";
import { reply, type Scenario, scenario, stalling, toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const TIMEOUT_MS = 180_000;
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const BROKEN = "Think about it [[broken]]";
const AFTERWARDS = "Are you there?";
const WHERE = "Where were we?";
const MODEL = ["-m", PLAIN_MODEL];

const available = await availability(codex);

describe.skipIf(available.program === null)("Codex, in a terminal", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let terminal: Terminal;
  let beforeSecond: WorkTree;
  let atTheEnd: WorkTree;

  beforeAll(async () => {
    rig = await Rig.start(codex, available.program ?? "", scenarios);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
    await rig.output(["backtrail", "enable", "--agent", "codex"]);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test(
    "Codex asks its user to review the hooks, and runs them from then on",
    async () => {
      // Told of twice, a turn is still one.
      terminal = await openCodex(rig, ...MODEL, ...NOTIFY);
      await trustHooks(terminal);
      await terminal.submit(FIRST);
      await terminal.waitFor("Hello is there.");
      const end = await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === FIRST);
      expect(end.files).toEqual({ added: ["greeting.txt", "made.txt"], modified: [], deleted: [] });
      expect(terminal.screen({ history: true })).toContain("Backtrail");
      beforeSecond = workTree(rig);
    },
    TIMEOUT_MS,
  );

  test(
    "a second turn, with a command that removes a file",
    async () => {
      await terminal.submit(SECOND);
      await terminal.waitFor("It is bigger.");
      const { id } = await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === SECOND);
      const end = await backtrail.show(id);
      expect(end.files).toEqual({ added: [], modified: ["greeting.txt"], deleted: ["doc.txt"] });
      expect(end.tokens).toEqual(totalUsage(rig.received.calls().filter((call) => call.scenario === "second")));
      expect(end.model).toBe(PLAIN_MODEL);
      const tools = (await backtrail.steps()).filter((step) => step.kind === "tool");
      expect(tools.map((step) => step.turn)).toEqual([2]);
    },
    TIMEOUT_MS,
  );

  test(
    "a turn that is broken off is recorded at once",
    async () => {
      await terminal.submit(BROKEN);
      await terminal.waitFor("I am still thinking");
      terminal.press("Escape");
      const { id } = await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === BROKEN);
      const end = await backtrail.show(id);
      expect(end.interrupted).toBe(true);
      expect(end.files).toEqual({ added: ["half.txt"], modified: [], deleted: [] });
    },
    TIMEOUT_MS,
  );

  test(
    "a compaction is a step, and the session goes on",
    async () => {
      await terminal.waitFor("Ask Codex to do anything");
      await terminal.submit("/compact");
      await terminal.waitFor("Context compacted");
      await terminal.submit(AFTERWARDS);
      await terminal.waitFor(`You said: ${AFTERWARDS}`);
      const end = await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === AFTERWARDS);
      const first = await backtrail.step("turn-end", FIRST);
      expect(end.session).toBe(first.session);
      await leaveCodex(terminal);
      atTheEnd = workTree(rig);
      const steps = await backtrail.steps();
      expect(new Set(steps.map((step) => step.session))).toEqual(new Set([first.session]));
      expect(steps.filter((step) => step.kind === "turn-end")).toHaveLength(4);
    },
    TIMEOUT_MS,
  );

  test(
    "rewind to before the second turn, and the agent goes on from exactly there",
    async () => {
      const target = await backtrail.step("turn-start", SECOND);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
      expect(readIn(rig, "notes.log")).toBe("written by a command\n");

      const fork = await openByShell(rig, receipt?.chat?.command ?? "", ...MODEL);
      await fork.submit(WHERE);
      await fork.waitFor(`You said: ${WHERE}`);
      await leaveCodex(fork);
      expect(rig.received.lastOutline({ session: receipt?.chat?.session ?? "" })).toEqual([
        `user: ${FIRST}`,
        "assistant: I will write it.",
        "assistant uses apply_patch",
        "assistant uses exec_command",
        expect.stringMatching(/^result: /),
        expect.stringMatching(/^result: /),
        "assistant: Hello is there.",
        `user: ${WHERE}`,
      ]);
    },
    TIMEOUT_MS,
  );

  test(
    "rewind into the middle: the broken turn is there, the one after it is not",
    async () => {
      const target = await backtrail.step("turn-end", BROKEN);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(readIn(rig, "half.txt")).toBe("half\n");
      const fork = await openByShell(rig, receipt?.chat?.command ?? "", ...MODEL);
      await fork.submit("And after that?");
      await fork.waitFor("You said: And after that?");
      await leaveCodex(fork);
      const heard = rig.received.lastOutline({ session: receipt?.chat?.session ?? "" });
      expect(heard).toContain(`user: ${BROKEN}`);
      expect(heard).not.toContain(`user: ${AFTERWARDS}`);
      expect(heard.at(-1)).toBe("user: And after that?");
    },
    TIMEOUT_MS,
  );

  test("redo, twice, brings everything back", async () => {
    await backtrail.json<Restored>("redo", "--yes");
    expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
    await backtrail.json<Restored>("redo", "--yes");
    expect(workTree(rig)).toEqual(atTheEnd);
  });

  test(
    "hooks that were reviewed run without a terminal as well",
    async () => {
      const { sessionId } = await prompt(rig, "Do you record?");
      expect(await backtrail.step("turn-end", "Do you record?")).toMatchObject({ session: sessionId });
      await rig.output(["backtrail", "doctor", "--check"]);
    },
    TIMEOUT_MS,
  );
});

function scenarios(): Scenario[] {
  const patch = (...lines: string[]) =>
    toolUse("apply_patch", { input: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n") });
  const shell = (cmd: string) => toolUse("exec_command", { cmd });
  return [
    TITLES,
    scenario("first", [
      reply("I will write it.", patch("*** Add File: greeting.txt", "+hello"), shell("printf 'made\\n' > made.txt")),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply("Two things.", patch("*** Update File: greeting.txt", "@@", "-hello", "+HELLO")),
      reply(shell("rm doc.txt && printf 'written by a command\\n' > notes.log")),
      reply("It is bigger."),
    ]),
    scenario("broken", [
      reply("Half of it.", patch("*** Add File: half.txt", "+half")),
      stalling(reply("I am still thinking about the other half")),
    ]),
  ];
}
