/**
 * Backtrail with the real Cline, which nothing but a profile describes: turns, files, answers and tokens, code taken back,
 * a session continued. Cline finds its sessions in a database, so a conversation can't be taken back with the code.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promptsHeard, usageOf } from "./agent-driver.ts";
import { Backtrail, type Restored } from "./backtrail.ts";
import { driver } from "./cline.ts";
import { FIRST, SECOND, scenarios, TIMEOUT_MS } from "./headless-page.ts";
import { except, makeProject, readIn, type WorkTree, workTree } from "./project.ts";
import type { Rig } from "./rig.ts";

const { program } = await driver.available();

describe.skipIf(program === null)("Cline", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;
  let beforeSecond: WorkTree;

  beforeAll(async () => {
    const page = { adds: "", settings: { path: "", hook: "" }, firstTurn: [], command: () => "" };
    rig = await driver.start(program ?? "", (project) => scenarios(project, driver, page));
    await makeProject(rig);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("enable writes a script for each event, and git sees nothing new", async () => {
    await rig.output(["backtrail", "enable", "--agent", "cline"]);
    expect(readIn(rig, ".cline/hooks/TaskStart")).toContain("hooks cline task-start");
    expect(await rig.output(["git", "status", "--porcelain", "--untracked-files=all"])).toBe("");
  });

  test(
    "two turns are recorded: prompts, files, answers, tokens",
    async () => {
      const first = await driver.turn(rig, FIRST);
      expect(first, first.stderr).toMatchObject({ code: 0, result: "Hello is there." });
      session = first.sessionId;
      beforeSecond = workTree(rig);
      expect(await driver.turn(rig, SECOND, session)).toMatchObject({ result: "It is bigger." });
      const steps = await backtrail.steps();
      // Its hooks do not tell the prompt; the end of a turn has it from the conversation.
      expect(steps.map(({ kind, turn, prompt }) => ({ kind, turn, prompt }))).toEqual([
        { kind: "turn-start", turn: 1, prompt: null },
        { kind: "turn-end", turn: 1, prompt: FIRST },
        { kind: "turn-start", turn: 2, prompt: null },
        { kind: "tool", turn: 2, prompt: null },
        { kind: "turn-end", turn: 2, prompt: SECOND },
      ]);
      expect(new Set(steps.map((step) => step.session))).toEqual(new Set([session]));
      for (const [text, name, answer] of [
        [FIRST, "first", "Hello is there."],
        [SECOND, "second", "It is bigger."],
      ] as const) {
        const shown = await backtrail.show((await backtrail.step("turn-end", text)).id);
        const calls = rig.received.all().filter((call) => call.scenario === name);
        expect(shown).toMatchObject({ response: answer, model: driver.model, tokens: usageOf(driver, calls) });
      }
    },
    TIMEOUT_MS,
  );

  test("the code goes back, and the plan says why the conversation does not", async () => {
    const { receipt } = await backtrail.json<Restored>("rewind", "1", "--yes");
    expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
    expect(receipt?.chat ?? null).toBeNull();
    await backtrail.json("redo", "--yes");
  });

  test(
    "resume gives the command that continues the session",
    async () => {
      const { chat } = await backtrail.json<{ chat: { command: string } }>("resume", session);
      expect(chat.command).toBe(`cline --id ${session}`);
      expect(await driver.goOn(rig, chat.command, "Where were we?")).toMatchObject({ code: 0 });
      expect(promptsHeard(driver, rig)).toEqual([FIRST, SECOND, "Where were we?"]);
    },
    TIMEOUT_MS,
  );

  test(
    "a run and its hooks are one session",
    async () => {
      const run = await rig.run(["backtrail", "run", "Say hello in a file [[first]]", "--agent", "cline"]);
      expect(run, run.stderr).toMatchObject({ code: 0 });
      const told = run.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(told.at(-1)).toEqual({ result: "Hello is there.", agent: "cline" });
      const id = told.find((line) => "session_id" in line)?.["session_id"];
      const steps = await backtrail.steps();
      expect(steps.some((step) => step.session === id)).toBe(true);
      expect(new Set(steps.map((step) => step.session))).toEqual(new Set([session, String(id)]));
    },
    TIMEOUT_MS,
  );

  test("all invariants hold, and disable takes away what enable made", async () => {
    expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    await rig.output(["backtrail", "disable"]);
    expect(existsSync(join(rig.project, ".cline/hooks/TaskStart"))).toBe(false);
  });
});
