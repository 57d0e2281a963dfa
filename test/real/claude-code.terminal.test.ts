/**
 * The same with the real Claude Code in a terminal, where turns can be broken off, subagents run in the
 * background and no settings file was there before. The tests are one story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type Restored } from "./backtrail.ts";
import { claudeCode, leaveClaude, openByShell, openClaude } from "./claude-code.ts";
import { except, makeProject, readIn, type WorkTree, workTree } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { totalUsage } from "./server/received.ts";
import { reply, type Scenario, scenario, stalling, toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const TIMEOUT_MS = 180_000;
const SETTINGS = ".claude/settings.local.json";
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const BROKEN = "Think about it [[broken]]";

const available = await availability(claudeCode);

describe.skipIf(available.program === null)("Claude Code, in a terminal", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let terminal: Terminal;
  let beforeSecond: WorkTree;
  let atTheEnd: WorkTree;

  beforeAll(async () => {
    rig = await Rig.start(claudeCode, available.program ?? "", scenarios);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("enable makes a settings file that git does not see", async () => {
    await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
    expect(existsSync(join(rig.project, SETTINGS))).toBe(true);
    expect(await rig.output(["git", "status", "--porcelain", "--untracked-files=all"])).toBe("");
  });

  test(
    "a turn is recorded while the agent stays open, and its user is told",
    async () => {
      terminal = await openClaude(rig);
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
    "a subagent in the background belongs to the turn that started it",
    async () => {
      await terminal.submit(SECOND);
      await terminal.waitFor("It is bigger.");
      const task = await backtrail.waitForStep(
        (step) => step.kind === "task" && step.files.added.includes("helper.txt"),
      );
      const start = await backtrail.step("turn-start", SECOND);
      // Claude Code itself tells the model that the subagent is done: a turn that no user began.
      await backtrail.waitForStep((step) => step.kind === "turn-end" && step.turn === start.turn + 1);
      expect(task).toMatchObject({ turn: start.turn, parent: start.id });

      const end = await backtrail.show((await backtrail.step("turn-end", SECOND)).id);
      expect(end.files.modified).toEqual(["greeting.txt"]);
      expect(end.files.deleted).toEqual(["doc.txt"]);
      const calls = rig.received.calls().filter((call) => call.scenario === "second" && call.index < 3);
      expect(end.tokens).toEqual(totalUsage(calls));
    },
    TIMEOUT_MS,
  );

  test(
    "a turn that is broken off is recorded when the next one begins",
    async () => {
      await terminal.submit(BROKEN);
      await terminal.waitFor("I am still thinking");
      terminal.press("Escape");
      await terminal.waitFor("Interrupted");
      await terminal.submit("Are you there?");
      await terminal.waitFor("You said: Are you there?");
      await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === "Are you there?");
      const end = await backtrail.show((await backtrail.step("turn-end", BROKEN)).id);
      expect(end.interrupted).toBe(true);
      expect(end.files).toEqual({ added: ["half.txt"], modified: [], deleted: [] });
      await leaveClaude(terminal);
      atTheEnd = workTree(rig);
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

      const fork = await openByShell(rig, receipt?.chat?.command ?? "");
      await fork.submit("Where were we?");
      await fork.waitFor("You said: Where were we?");
      await leaveClaude(fork);
      expect(rig.received.lastOutline()).toEqual([
        `user: ${FIRST}`,
        "assistant: I will write it.",
        "assistant uses Write",
        "assistant uses Bash",
        expect.stringMatching(/^result: File created successfully/),
        expect.stringMatching(/^result: /),
        "assistant: Hello is there.",
        "user: Where were we?",
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
      const fork = await openByShell(rig, receipt?.chat?.command ?? "");
      await fork.submit("And after that?");
      await fork.waitFor("You said: And after that?");
      await leaveClaude(fork);
      const heard = rig.received.lastOutline();
      expect(heard).toContain(`user: ${BROKEN}`);
      expect(heard).not.toContain("user: Are you there?");
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

  test("disable takes away the file that enable made", async () => {
    await rig.output(["backtrail", "doctor", "--check"]);
    await rig.output(["backtrail", "disable"]);
    expect(existsSync(join(rig.project, SETTINGS))).toBe(false);
  });
});

function scenarios(project: string): Scenario[] {
  const inProject = (path: string) => join(project, path);
  const write = (path: string, content: string) => toolUse("Write", { file_path: inProject(path), content });
  const bash = (command: string) => toolUse("Bash", { command, description: "Run a command" });
  const subagent = { description: "Write the helper", prompt: "[[subtask]] Write helper.txt" };
  return [
    scenario("first", [
      reply("I will write it.", write("greeting.txt", "hello\n"), bash("printf 'made\\n' > made.txt")),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply(
        "Three things.",
        toolUse("Edit", { file_path: inProject("greeting.txt"), old_string: "hello", new_string: "HELLO" }),
        bash("rm doc.txt && printf 'written by a command\\n' > notes.log"),
      ),
      reply("And a subagent.", toolUse("Agent", { ...subagent, subagent_type: "general-purpose" })),
      reply("It is bigger."),
      reply("The subagent is done."),
    ]),
    scenario("subtask", [reply("Writing.", write("helper.txt", "by the subagent\n")), reply("It is written.")]),
    scenario("broken", [
      reply("Half of it.", write("half.txt", "half\n")),
      stalling(reply("I am still thinking about the other half")),
    ]),
  ];
}
