/**
 * The whole of Backtrail with the real Factory Droid, without a terminal: `droid exec`, which announces no prompt, and
 * one process with several turns, as editors drive it. Its terminal and its subagents need a login, so no story has
 * them.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type LoggedStep, type Restored } from "./backtrail.ts";
import { converse, droid, MODEL, nameModel, prompt, whereDroidRuns } from "./factoryai-droid.ts";
import { except, makeProject, readIn, type WorkTree, workTree as wholeTree, writeIn } from "./project.ts";
import { Rig } from "./rig.ts";
import { totalUsage } from "./server/received.ts";
import { reply, type Scenario, scenario, slowly, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 120_000;
const SETTINGS = ".factory/settings.json";
// Tabs, a key that nobody knows and no line end at the end: all of it must survive.
const USERS_SETTINGS = '{\n\t"commandDenylist": ["rm -rf /"],\n\t"x-unknown": [1,2 , 3]}';
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";

const available = await whereDroidRuns();

describe.skipIf(available.program === null)("Droid, exec", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;
  let beforeSecond: WorkTree;
  let afterSecond: WorkTree;

  beforeAll(async () => {
    rig = await Rig.start(droid, available.program ?? "", scenarios);
    await makeProject(rig);
    nameModel(rig);
    writeIn(rig, SETTINGS, USERS_SETTINGS);
    await rig.output(["sh", "-c", "echo .factory/ >> .git/info/exclude"]);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("enable adds hooks, and git sees nothing new", async () => {
    const before = await gitStatus(rig);
    await rig.output(["backtrail", "enable", "--agent", "droid"]);
    expect(await gitStatus(rig)).toBe(before);
    expect(readIn(rig, SETTINGS)).toContain("hooks factoryai-droid user-prompt-submit");
  });

  test(
    "two turns run as they would without Backtrail",
    async () => {
      const first = await prompt(rig, FIRST);
      expect(first).toMatchObject({ code: 0, result: "Hello is there." });
      session = first.sessionId;
      writeIn(rig, "README.md", "# Example\n\nWritten by the user between two turns\n");
      beforeSecond = workTree(rig);
      const second = await prompt(rig, SECOND, "--session-id", session);
      expect(second).toMatchObject({ code: 0, result: "It is bigger." });
      afterSecond = workTree(rig);
      expect(await rig.output(["git", "log", "--all", "--format=%s"])).toBe("Begin\n");
      expect(rig.received.lastOutline().filter((line) => line.startsWith("failure"))).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test("the log has both turns, each behind what was there before it", async () => {
    const steps = await backtrail.steps();
    expect(steps.map(({ kind, turn, prompt, session, agent }) => ({ kind, turn, prompt, session, agent }))).toEqual(
      [
        { kind: "baseline", turn: 0, prompt: null },
        { kind: "turn-end", turn: 1, prompt: FIRST },
        { kind: "baseline", turn: 1, prompt: null },
        { kind: "tool", turn: 2, prompt: SECOND },
        { kind: "turn-end", turn: 2, prompt: SECOND },
      ].map((step) => ({ ...step, session, agent: "factoryai-droid" })),
    );
    expect(sorted((await backtrail.step("turn-end", FIRST)).files)).toEqual({
      added: ["greeting.txt", "made.txt"],
      modified: ["src/app.txt"],
      deleted: [],
    });
  });

  test("a step says what the agent answered and what it cost", async () => {
    for (const [text, name, answer] of [
      [FIRST, "first", "Hello is there."],
      [SECOND, "second", "It is bigger."],
    ] as const) {
      const shown = await backtrail.show((await backtrail.step("turn-end", text)).id);
      const calls = rig.received.all().filter((call) => call.scenario === name);
      expect(shown).toMatchObject({ response: answer, model: MODEL, interrupted: false });
      expect(shown.tokens).toEqual(totalUsage(calls));
    }
  });

  test(
    "rewind to before the second turn, and the agent goes on from exactly there",
    async () => {
      const target = (await backtrail.steps()).filter((step) => step.kind === "baseline").at(-1);
      const original = readFileSync(transcriptOf(rig, session), "utf8");
      const { receipt } = await backtrail.json<Restored>("rewind", target?.id ?? "", "--yes");

      expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
      expect(readFileSync(transcriptOf(rig, session), "utf8")).toBe(original);
      expect(receipt?.chat?.command).toBe(`droid --resume ${receipt?.chat?.session}`);

      const resumed = await prompt(rig, "Where were we?", "--session-id", receipt?.chat?.session ?? "");
      expect(resumed).toMatchObject({ code: 0, result: "You said: Where were we?" });
      expect(rig.received.lastOutline()).toEqual([
        `user: ${FIRST}`,
        "assistant: I will write it.",
        "assistant uses Create",
        "assistant uses Read",
        expect.stringMatching(/^result: The file .* has been created/),
        expect.stringMatching(/^result: /),
        "assistant: Two more things.",
        "assistant uses Edit",
        "assistant uses Execute",
        expect.stringMatching(/^result: /),
        expect.stringMatching(/^result: /),
        "assistant: Hello is there.",
        "user: Where were we?",
      ]);
    },
    TIMEOUT_MS,
  );

  test(
    "redo brings everything back, and the agent knows both turns again",
    async () => {
      await backtrail.json<Restored>("redo", "--yes");
      expect(workTree(rig)).toEqual(afterSecond);
      await prompt(rig, "And now?", "--session-id", session);
      const heard = rig.received.lastOutline();
      expect(heard.filter((line) => line.startsWith("user: "))).toEqual([
        `user: ${FIRST}`,
        `user: ${SECOND}`,
        "user: And now?",
      ]);
    },
    TIMEOUT_MS,
  );

  test("all invariants hold, and disable leaves the settings as they were, byte for byte", async () => {
    expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    await rig.output(["backtrail", "disable"]);
    expect(readIn(rig, SETTINGS)).toBe(USERS_SETTINGS);
  });
});

describe.skipIf(available.program === null)("Droid, several turns in one process", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;

  beforeAll(async () => {
    rig = await Rig.start(droid, available.program ?? "", scenarios);
    await makeProject(rig);
    nameModel(rig);
    backtrail = new Backtrail(rig);
    await rig.output(["backtrail", "enable", "--agent", "droid"]);
    session = await converse(rig, `say:${FIRST}`, "interrupt:Go on [[slow]]", `say:${SECOND}`, "compact");
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("prompts are announced: every turn has its beginning and its end", async () => {
    expect(await gitStatus(rig)).not.toContain(".factory");
    const steps = (await backtrail.steps()).filter((step) => step.kind.startsWith("turn-"));
    expect(steps.map(({ kind, turn, prompt }) => [kind, turn, prompt])).toEqual([
      ["turn-start", 1, FIRST],
      ["turn-end", 1, FIRST],
      ["turn-start", 2, "Go on [[slow]]"],
      ["turn-end", 2, "Go on [[slow]]"],
      ["turn-start", 3, SECOND],
      ["turn-end", 3, SECOND],
    ]);
    expect(steps.every((step) => step.session === session)).toBe(true);
  });

  test("the turn that was stopped is known as such; a compaction is a step", async () => {
    const stopped = await backtrail.show((await backtrail.step("turn-end", "Go on [[slow]]")).id);
    expect(stopped.interrupted).toBe(true);
    const last = (await backtrail.steps()).at(-1);
    expect(await backtrail.show(last?.id ?? "")).toMatchObject({ kind: "tool", command: "/compact" });
  });

  test(
    "rewind to before the third turn leaves the first two",
    async () => {
      const target = await backtrail.step("turn-start", SECOND);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(readIn(rig, "greeting.txt")).toBe("hello\n");
      await prompt(rig, "Where were we?", "--session-id", receipt?.chat?.session ?? "");
      const heard = rig.received.lastOutline();
      expect(heard[0]).toBe(`user: ${FIRST}`);
      expect(heard).toContain("user: Go on [[slow]]");
      expect(heard).not.toContain(`user: ${SECOND}`);
      expect(heard.at(-1)).toBe("user: Where were we?");
      expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    },
    TIMEOUT_MS,
  );
});

function scenarios(project: string): Scenario[] {
  const inProject = (path: string) => join(project, path);
  const execute = (command: string) =>
    toolUse("Execute", { summary: "Change files", command, timeout: 60, riskLevelReason: "A test", riskLevel: "low" });
  const secondCommand = [
    "printf 'changed by a command\\n' > src/app.txt",
    "mkdir -p deep/er && printf 'new\\n' > deep/er/file.txt",
    "rm doc.txt",
    "chmod +x run.sh",
  ].join(" && ");
  return [
    scenario("first", [
      reply(
        "I will write it.",
        toolUse("Create", { file_path: inProject("greeting.txt"), content: "hello\n" }),
        toolUse("Read", { file_path: inProject("src/app.txt") }),
      ),
      reply(
        "Two more things.",
        toolUse("Edit", { file_path: inProject("src/app.txt"), old_str: "beta", new_str: "gamma" }),
        execute("printf 'made by a command\\n' > made.txt"),
      ),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply(
        "First the file.",
        toolUse("Edit", { file_path: inProject("greeting.txt"), old_str: "hello", new_str: "HELLO" }),
      ),
      reply("Now the rest.", execute(secondCommand)),
      reply("It is bigger."),
    ]),
    scenario("slow", [slowly(100, reply("word ".repeat(300)))]),
  ];
}

/** Droid makes its files for the user alone; what git keeps is whether they can be run. */
function workTree(rig: Rig): WorkTree {
  const files = Object.entries(wholeTree(rig));
  return Object.fromEntries(files.map(([path, content]) => [path, content.replace(/^600 /, "644 ")]));
}

function gitStatus(rig: Rig): Promise<string> {
  return rig.output(["git", "status", "--porcelain", "--untracked-files=all"]);
}

function transcriptOf(rig: Rig, session: string): string {
  return join(rig.home, ".factory/sessions", rig.project.replaceAll("/", "-"), `${session}.jsonl`);
}

function sorted(files: LoggedStep["files"]): LoggedStep["files"] {
  return { added: [...files.added].sort(), modified: [...files.modified].sort(), deleted: [...files.deleted].sort() };
}
