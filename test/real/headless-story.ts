/**
 * The whole of Backtrail with a real agent, without a terminal: two turns recorded, taken back, continued from there,
 * brought back, and Backtrail taken out again. One story for every agent, its tests in order; what is an agent's own
 * stands on its page, and its own tests come at the moments that the page names.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, heardBy, promptsHeard, usageOf } from "./agent-driver.ts";
import { Backtrail, type LoggedStep, type Restored } from "./backtrail.ts";
import {
  directoryOf,
  FIRST,
  firstTurn,
  type HeadlessPage,
  helperOf,
  SECOND,
  type Story,
  SUBTASK,
  scenarios,
  TIMEOUT_MS,
  WHERE,
} from "./headless-page.ts";
import { except, makeProject, readIn, workTree, writeIn } from "./project.ts";
import type { Rig } from "./rig.ts";

export async function testHeadless(driver: AgentDriver, page: HeadlessPage): Promise<void> {
  const { program } = await driver.available();
  describe.skipIf(program === null)(page.title ?? `${driver.name}, headless`, () => {
    // Filled in as the story goes on.
    const story = { session: "" } as Story;

    beforeAll(async () => {
      story.rig = await driver.start(program ?? "", (project) => scenarios(project, driver, page));
      await makeProject(story.rig);
      if (page.settings.users !== undefined) {
        writeIn(story.rig, page.settings.path, page.settings.users);
        await story.rig.output(["sh", "-c", `echo ${directoryOf(page)}/ >> .git/info/exclude`]);
      }
      story.backtrail = new Backtrail(story.rig);
    }, TIMEOUT_MS);

    afterAll(async () => {
      await story.rig?.stop();
    });

    enabling(driver, page, story);
    page.own?.enabled?.(story);
    recording(driver, page, story);
    goingBack(driver, page, story);
    page.own?.rewound?.(story);
    redoMerge(driver, page, story);
    page.own?.redone?.(story);
    test("all invariants hold, and nothing went wrong in any hook", async () => {
      expect(await story.backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    });
    page.own?.sound?.(story);
    disabling(page, story);
    page.own?.disabled?.(story);
  });
}

function enabling({ id }: AgentDriver, page: HeadlessPage, story: Story): void {
  test(`enable adds ${page.adds}, and git sees nothing new`, async () => {
    const { rig, backtrail } = story;
    expect(await gitStatus(rig)).toBe("");
    const enabled = await backtrail.run("enable", "--agent", page.alias ?? id);
    expect(enabled).toMatchObject({ code: 0 });
    if (page.says) expect(enabled.stdout + enabled.stderr).toContain(page.says);
    expect(await gitStatus(rig)).toBe("");
    expect(settingsIn(rig, page)).toContain(`hooks ${id} ${page.settings.hook}`);
    expect(await backtrail.json("status")).toMatchObject({
      enabled: true,
      store: { kind: "repository" },
      agents: expect.arrayContaining([
        expect.objectContaining({ id, hooks: "installed", scope: page.userSettings ? "user" : "local", heard: false }),
      ]),
    });
  });
}

function recording(driver: AgentDriver, page: HeadlessPage, story: Story): void {
  const tree = page.tree ?? workTree;

  test(
    "two turns run as they would without Backtrail",
    async () => {
      const { rig } = story;
      const first = await driver.turn(rig, FIRST);
      expect(first, first.stderr).toMatchObject({ code: 0, result: "Hello is there." });
      if (page.quiet) expect(first.stderr).toBe("");
      story.session = first.sessionId;
      writeIn(rig, "README.md", "# Example\n\nWritten by the user between two turns\n");
      await rig.output(["git", "add", "src/app.txt"]);
      const staged = await rig.output(["git", "diff", "--cached"]);
      story.beforeSecond = tree(rig);

      const second = await (page.second ?? driver.turn)(rig, SECOND, first.sessionId);
      expect(second, second.stderr).toMatchObject({ code: 0, result: "It is bigger.", sessionId: story.session });
      story.afterSecond = tree(rig);
      expect(await rig.output(["git", "diff", "--cached"])).toBe(staged);
      expect(await rig.output(["git", "stash", "list"])).toBe("");
      expect(await rig.output(["git", "log", "--all", "--format=%s"])).toBe("Begin\n");
      const heard = heardBy(driver, rig);
      expect(heard.filter((line) => line.startsWith("failure"))).toEqual([]);
      expect(heard.join("\n")).not.toContain("Backtrail");
    },
    TIMEOUT_MS,
  );

  test(`the log has both turns${page.recorded ? ", each behind what was there before it" : ""}: prompts and files`, async () => {
    const { backtrail, session } = story;
    const all = await backtrail.steps();
    const turns = all.filter((step) => step.kind === "turn-start" || step.kind === "turn-end");
    const steps = page.recorded ? all : turns;
    expect(steps.map(({ kind, turn, prompt, session, agent }) => ({ kind, turn, prompt, session, agent }))).toEqual(
      (page.recorded ?? STARTS_AND_ENDS).map((step) => ({ ...step, session, agent: driver.id })),
    );
    expect(sorted((await backtrail.step("turn-end", FIRST)).files)).toEqual({
      added: ["greeting.txt", "made.txt"],
      modified: ["src/app.txt"],
      deleted: [],
    });
    expect(sorted((await backtrail.step("turn-end", SECOND)).files)).toEqual({
      added: ["deep/er/file.txt", ...helperOf(page)],
      modified: ["greeting.txt", "run.sh", "src/app.txt"],
      deleted: ["doc.txt"],
    });
    const kept = page.startsWithTranscript ? turns : turns.filter((step) => step.kind === "turn-end");
    expect(kept.every((step) => step.hasTranscript)).toBe(true);
  });

  test(`a step says what the agent answered and what it cost${page.subagent ? ", its subagent's share with it" : ""}`, async () => {
    for (const [text, names, answer] of [
      [FIRST, ["first"], "Hello is there."],
      [SECOND, ["second", "subtask"], "It is bigger."],
    ] as const) {
      const shown = await story.backtrail.show((await story.backtrail.step("turn-end", text)).id);
      const calls = story.rig.received.all().filter((call) => names.some((name) => name === call.scenario));
      expect(shown).toMatchObject({
        response: answer,
        model: page.model ?? driver.model ?? calls[0]?.model,
        interrupted: false,
      });
      expect(shown.tokens).toEqual(usageOf(driver, calls));
    }
  });

  if (page.subagent) subtask(driver, page, story);

  test("there is a step from just before the command that removes files", async () => {
    const tools = (await story.backtrail.steps()).filter((step) => step.kind === "tool");
    expect(tools.map((step) => step.turn)).toEqual([2]);
  });
}

function subtask(driver: AgentDriver, page: HeadlessPage, story: Story): void {
  test("the subagent has separate steps below the turn that started it, and no session", async () => {
    const { rig, backtrail, session } = story;
    const start = await backtrail.step("turn-start", SECOND);
    const steps = await backtrail.steps();
    const tasks = steps.filter((step) => step.kind === "task");
    expect(tasks.map(({ turn, parent, prompt }) => ({ turn, parent, prompt }))).toEqual([
      { turn: 2, parent: start.id, prompt: SUBTASK },
      { turn: 2, parent: start.id, prompt: SUBTASK },
    ]);
    expect(new Set(steps.map((step) => step.session))).toEqual(new Set([session]));
    const end = await backtrail.show(tasks.at(-1)?.id ?? "");
    expect(end.prompt).toBe(SUBTASK);
    expect(end.files).toEqual({ added: ["helper.txt"], modified: [], deleted: [] });
    const calls = rig.received.all().filter((call) => call.subagent !== null || call.scenario === "subtask");
    expect(calls).not.toBeEmpty();
    const { response, tokens } = end;
    if (page.subagent?.alone) expect({ response, tokens }).toEqual({ response: null, tokens: null });
    else expect({ response, tokens }).toEqual({ response: "helper.txt is written.", tokens: usageOf(driver, calls) });
  });
}

function goingBack(driver: AgentDriver, page: HeadlessPage, story: Story): void {
  const tree = page.tree ?? workTree;
  const target = () => page.target?.(story) ?? story.backtrail.step("turn-start", SECOND);

  test("a dry run says everything and does nothing", async () => {
    const dry = await story.backtrail.json<Restored>("rewind", (await target()).id, "--dry-run");
    expect(dry.receipt).toBeNull();
    expect([...dry.plan.write].sort()).toEqual(["doc.txt", "greeting.txt", "src/app.txt"]);
    expect([...dry.plan.delete].sort()).toEqual(["deep/er/file.txt", ...helperOf(page)]);
    expect(dry.plan.chmod).toEqual(["run.sh"]);
    expect(tree(story.rig)).toEqual(story.afterSecond);
  });

  test(
    "rewind to before the second turn, and the agent goes on from exactly there",
    async () => {
      const { rig, backtrail, session } = story;
      const transcript = await page.transcript?.(rig, session);
      const original = transcript && readFileSync(transcript, "utf8");
      const { receipt } = await backtrail.json<Restored>("rewind", (await target()).id, "--yes");
      expect(except(tree(rig), "notes.log")).toEqual(except(story.beforeSecond, "notes.log"));
      expect(readIn(rig, "notes.log")).toBe("written by a command\n");
      const chat = receipt?.chat;
      if (!chat) throw new Error("there is no conversation to go on with");
      expect(chat.agent).toBe(driver.id);
      expect(chat.session).not.toBe(session);
      if (page.sessionId) expect(chat.session).toMatch(page.sessionId);
      expect(chat.command).toBe(page.command(chat));

      const resumed = await driver.goOn(rig, chat.command, WHERE);
      expect(resumed, resumed.stderr).toMatchObject({ code: 0, result: `You said: ${WHERE}`, sessionId: chat.session });
      expect(heardBy(driver, rig)).toEqual([...firstTurn(page), `user: ${WHERE}`]);
      // The first conversation is as it was.
      if (transcript) expect(readFileSync(transcript, "utf8")).toBe(original ?? "");

      const turn = await backtrail.step("turn-end", WHERE);
      expect(turn).toMatchObject({ session: chat.session, agent: driver.id, turn: 1 });
      const cost = page.forkCosts === null ? null : usageOf(driver, [rig.received.last()]);
      expect((await backtrail.show(turn.id)).tokens).toEqual(cost);
    },
    TIMEOUT_MS,
  );
}

function redoMerge(driver: AgentDriver, page: HeadlessPage, story: Story): void {
  test(
    "redo brings everything back, and the agent knows both turns again",
    async () => {
      const { rig, backtrail, session } = story;
      const { receipt } = await backtrail.json<Restored>("redo", "--yes");
      expect((page.tree ?? workTree)(rig)).toEqual(story.afterSecond);
      expect(receipt?.safetyStep).toBeString();
      await driver.turn(rig, "And now?", session);
      if (driver.namesSession) expect(rig.received.last().session).toBe(session);
      expect(promptsHeard(driver, rig)).toEqual([FIRST, SECOND, "And now?"]);
      expect(heardBy(driver, rig).at(-2)).toBe("assistant: It is bigger.");
    },
    TIMEOUT_MS,
  );
}

function disabling(page: HeadlessPage, story: Story): void {
  const { path, users } = page.settings;
  const words = users === undefined ? "takes away what enable made" : "leaves the settings as they were, byte for byte";
  test(`disable ${words}`, async () => {
    const { rig } = story;
    await rig.output(["backtrail", "disable"]);
    if (page.userSettings) expect(settingsIn(rig, page)).toBe(page.userSettings(rig));
    else if (users === undefined) expect(existsSync(join(rig.project, page.made ?? path))).toBe(false);
    else expect(readIn(rig, path)).toBe(users);
    expect(await gitStatus(rig)).not.toContain(directoryOf(page));
  });
}

/** The file with the hooks, as it is now. */
function settingsIn(rig: Rig, { settings, userSettings }: HeadlessPage): string {
  return userSettings ? readFileSync(join(rig.home, settings.path), "utf8") : readIn(rig, settings.path);
}

const STARTS_AND_ENDS = [
  { kind: "turn-start", turn: 1, prompt: FIRST },
  { kind: "turn-end", turn: 1, prompt: FIRST },
  { kind: "turn-start", turn: 2, prompt: SECOND },
  { kind: "turn-end", turn: 2, prompt: SECOND },
];

function gitStatus(rig: Rig): Promise<string> {
  return rig.output(["git", "status", "--porcelain", "--untracked-files=all"]);
}

function sorted(files: LoggedStep["files"]): LoggedStep["files"] {
  return { added: [...files.added].sort(), modified: [...files.modified].sort(), deleted: [...files.deleted].sort() };
}
