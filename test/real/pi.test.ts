/**
 * The whole of Backtrail with the real Pi, without a terminal: two turns recorded, taken back, continued from there,
 * brought back, and Backtrail taken out again. The tests are one story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type LoggedStep, type Restored } from "./backtrail.ts";
import { MODEL, piAvailability, prompt, shellPrompt, startPi, subagentExtension } from "./pi.ts";
import { makeProject, readIn, type WorkTree, workTree, writeIn } from "./project.ts";
import type { Rig } from "./rig.ts";
import { reported } from "./server/openai-chat.ts";
import { totalUsage } from "./server/received.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const EXTENSION = ".pi/extensions/backtrail/index.ts";
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const SUBTASK = "[[subtask]] Write helper.txt";

const available = await piAvailability();

describe.skipIf(available.program === null)("Pi, headless", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;
  let beforeSecond: WorkTree;
  let afterSecond: WorkTree;

  beforeAll(async () => {
    rig = await startPi(available.program ?? "", scenarios);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("enable adds the extension, and git sees nothing new", async () => {
    const enabled = await backtrail.run("enable", "--agent", "pi");
    expect(enabled.code).toBe(0);
    expect(enabled.stdout + enabled.stderr).toContain("--approve");
    expect(await gitStatus(rig)).toBe("");
    expect(readIn(rig, EXTENSION)).toContain("hooks pi turn-start");
    expect(await backtrail.json("status")).toMatchObject({
      enabled: true,
      agents: expect.arrayContaining([{ id: "pi", hooks: "installed", scope: "local" }]),
    });
  });

  test(
    "two turns run as they would without Backtrail",
    async () => {
      const first = await prompt(rig, FIRST);
      expect(first).toMatchObject({ code: 0, result: "Hello is there." });
      session = first.sessionId;
      writeIn(rig, "README.md", "# Example\n\nWritten by the user between two turns\n");
      await rig.output(["git", "add", "src/app.txt"]);
      const staged = await rig.output(["git", "diff", "--cached"]);
      beforeSecond = workTree(rig);

      const extension = subagentExtension(available.program ?? "");
      const second = await prompt(rig, SECOND, "--session", session, "-e", extension);
      expect(second).toMatchObject({ code: 0, result: "It is bigger.", sessionId: session });
      afterSecond = workTree(rig);
      expect(await rig.output(["git", "diff", "--cached"])).toBe(staged);
      expect(await rig.output(["git", "log", "--all", "--format=%s"])).toBe("Begin\n");
    },
    TIMEOUT_MS,
  );

  test("the log has both turns: prompts and files", async () => {
    const steps = await backtrail.steps();
    const turns = steps.filter((step) => step.kind === "turn-start" || step.kind === "turn-end");
    expect(turns.map(({ kind, turn, prompt, session, agent }) => ({ kind, turn, prompt, session, agent }))).toEqual(
      [
        { kind: "turn-start", turn: 1, prompt: FIRST },
        { kind: "turn-end", turn: 1, prompt: FIRST },
        { kind: "turn-start", turn: 2, prompt: SECOND },
        { kind: "turn-end", turn: 2, prompt: SECOND },
      ].map((step) => ({ ...step, session, agent: "pi" })),
    );
    expect(sorted((await backtrail.step("turn-end", FIRST)).files)).toEqual({
      added: ["greeting.txt", "made.txt"],
      modified: ["src/app.txt"],
      deleted: [],
    });
    expect(sorted((await backtrail.step("turn-end", SECOND)).files)).toEqual({
      added: ["helper.txt"],
      modified: ["greeting.txt", "run.sh"],
      deleted: ["doc.txt"],
    });
  });

  test("a step says what the agent answered and what it cost", async () => {
    for (const [text, names, answer] of [
      [FIRST, ["first"], "Hello is there."],
      [SECOND, ["second", "subtask"], "It is bigger."],
    ] as const) {
      const shown = await backtrail.show((await backtrail.step("turn-end", text)).id);
      expect(shown).toMatchObject({ response: answer, model: MODEL, interrupted: false });
      expect(shown.tokens).toEqual(usageOf(rig, names));
    }
  });

  test("a subagent, which is another Pi, has steps below the turn that started it and no session", async () => {
    const start = await backtrail.step("turn-start", SECOND);
    const steps = await backtrail.steps();
    const tasks = steps.filter((step) => step.kind === "task");
    expect(tasks).toHaveLength(2);
    expect(tasks.every((task) => task.turn === 2 && task.parent === start.id)).toBe(true);
    const end = await backtrail.show(tasks.at(-1)?.id ?? "");
    expect(end).toMatchObject({ prompt: SUBTASK, files: { added: ["helper.txt"], modified: [], deleted: [] } });
    expect(new Set(steps.map((step) => step.session)).size).toBe(1);
  });

  test("there is a step from just before the command that removes files", async () => {
    const tools = (await backtrail.steps()).filter((step) => step.kind === "tool");
    expect(tools.map((step) => step.turn)).toEqual([2]);
  });

  test(
    "rewind to before the second turn, and the agent goes on from exactly there",
    async () => {
      const target = await backtrail.step("turn-start", SECOND);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(workTree(rig)).toEqual(beforeSecond);
      const chat = receipt?.chat;
      expect(chat?.agent).toBe("pi");
      expect(chat?.session).not.toBe(session);
      expect(chat?.command).toBe(`pi --session ${chat?.session}`);

      const resumed = await shellPrompt(rig, chat?.command ?? "", "Where were we?");
      expect(resumed).toMatchObject({ code: 0, result: "You said: Where were we?", sessionId: chat?.session });
      expect(rig.received.lastOutline()).toEqual([
        `user: ${FIRST}`,
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
        "assistant: Hello is there.",
        "user: Where were we?",
      ]);
      const turn = await backtrail.step("turn-end", "Where were we?");
      expect(turn).toMatchObject({ session: chat?.session, turn: 1 });
    },
    TIMEOUT_MS,
  );

  test(
    "redo brings everything back, and the agent knows both turns again",
    async () => {
      await backtrail.json<Restored>("redo", "--yes");
      expect(workTree(rig)).toEqual(afterSecond);

      await prompt(rig, "And now?", "--session", session);
      const heard = rig.received.lastOutline();
      expect(heard.filter((line) => line.startsWith("user: "))).toEqual([
        `user: ${FIRST}`,
        `user: ${SECOND}`,
        "user: And now?",
      ]);
      expect(heard.at(-2)).toBe("assistant: It is bigger.");
    },
    TIMEOUT_MS,
  );

  test("all invariants hold, and nothing went wrong in any hook", async () => {
    const doctor = await backtrail.run("doctor", "--check", "--json");
    expect(doctor).toMatchObject({ code: 0 });
  });

  test("a conversation that Pi keeps nowhere is not recorded, and is not disturbed", async () => {
    const before = await backtrail.steps();
    const done = await prompt(rig, "Forget this", "--no-session");
    expect(done).toMatchObject({ code: 0, result: "You said: Forget this" });
    expect(await backtrail.steps()).toEqual(before);
  });

  test("disable takes the extension away", async () => {
    await rig.output(["backtrail", "disable"]);
    expect(existsSync(join(rig.project, ".pi"))).toBe(false);
    expect(await gitStatus(rig)).not.toContain(".pi");
  });

  test(
    "enabled for all of the user's repositories, it records where no project is trusted",
    async () => {
      rmSync(join(rig.home, ".pi/agent/trust.json"));
      await rig.output(["backtrail", "enable", "--agent", "pi", "--scope", "user"]);
      expect(existsSync(join(rig.project, ".pi"))).toBe(false);
      expect(await prompt(rig, "Without trust")).toMatchObject({ code: 0, result: "You said: Without trust" });
      expect(await backtrail.step("turn-end", "Without trust")).toMatchObject({ agent: "pi", turn: 1 });
      await rig.output(["backtrail", "disable"]);
      expect(existsSync(join(rig.home, ".pi/agent/extensions"))).toBe(false);
    },
    TIMEOUT_MS,
  );
});

function scenarios(project: string): Scenario[] {
  const inProject = (path: string) => join(project, path);
  return [
    scenario("first", [
      reply(
        "I will write it.",
        toolUse("write", { path: inProject("greeting.txt"), content: "hello\n" }),
        toolUse("read", { path: inProject("src/app.txt") }),
      ),
      reply(
        "Two more things.",
        toolUse("edit", { path: "src/app.txt", edits: [{ oldText: "beta", newText: "gamma" }] }),
        toolUse("bash", { command: "printf 'made by a command\\n' > made.txt" }),
      ),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply(
        "First the file.",
        toolUse("edit", { path: inProject("greeting.txt"), edits: [{ oldText: "hello", newText: "HELLO" }] }),
      ),
      reply("Now the rest.", toolUse("bash", { command: "rm doc.txt && chmod +x run.sh" })),
      reply("A subagent does the last part.", toolUse("subagent", { agent: "worker", task: SUBTASK })),
      reply("It is bigger."),
    ]),
    scenario("subtask", [
      reply("Writing.", toolUse("write", { path: inProject("helper.txt"), content: "by the subagent\n" })),
      reply("helper.txt is written."),
    ]),
  ];
}

function usageOf(rig: Rig, names: readonly string[]) {
  return reported(totalUsage(rig.received.all().filter((call) => names.includes(call.scenario))));
}

function gitStatus(rig: Rig): Promise<string> {
  return rig.output(["git", "status", "--porcelain", "--untracked-files=all"]);
}

function sorted(files: LoggedStep["files"]): LoggedStep["files"] {
  return {
    added: [...files.added].sort(),
    modified: [...files.modified].sort(),
    deleted: [...files.deleted].sort(),
  };
}
