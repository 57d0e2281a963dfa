import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { ScriptedSession } from "../../test/support/dispatching.ts";
import { temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import { UserError } from "../base/errors.ts";
import { applyRedo, planRedo } from "./redo.ts";
import { applyRewind, planRewind } from "./rewind.ts";
import { findTurns } from "./targets/turns.ts";
import { type ConflictReason, obstacles, type RestorePlan } from "./types.ts";
import { applyUndo, changedNothing, newestWithChanges, planUndo, undoneTurns } from "./undo.ts";

ownHome();

const LINES = Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join("");

async function place() {
  const repository = temporaryRepository();
  repository.write("lines.txt", LINES);
  repository.commit("lines");
  const workspace = await enabledWorkspace(repository.path);
  const agent = new ScriptedSession(repository, workspace);
  const edit = (before: string, after: string) =>
    repository.write("lines.txt", repository.read("lines.txt").replace(`${before}\n`, `${after}\n`));
  const turn = async (work: () => unknown, who = agent) => {
    await who.begin("Work");
    await work();
    await who.end();
  };
  const undo = async (...words: string[]) => applyUndo(workspace, await planUndo(workspace, words));
  return { repository, workspace, agent, edit, turn, undo, [Symbol.dispose]: () => repository.remove() };
}

type Place = Awaited<ReturnType<typeof place>>;

function reasonsOf(plan: RestorePlan): Record<string, ConflictReason> {
  return Object.fromEntries(obstacles(plan).map(({ path, reason }) => [path, reason]));
}

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof UserError) return `${error.kind}: ${error.message}`;
    throw error;
  }
  throw new Error("It was not refused.");
}

/** A subagent from its start to its end, with what is in its own transcript. */
async function task(
  { agent, repository }: Place,
  id: string,
  work: () => unknown,
  more: { toolUseId?: string; said?: string } = {},
) {
  const path = repository.at("..", `${id}.jsonl`);
  const subagent = {
    id,
    type: "worker",
    description: id,
    prompt: null,
    transcriptPath: path,
    toolUseId: more.toolUseId ?? null,
  };
  await agent.send("SubagentStart", { subagent });
  await work();
  mkdirSync(dirname(path), { recursive: true });
  await Bun.write(path, `${more.said ?? "{}"}\n`);
  await agent.send("SubagentEnd", { subagent });
  rmSync(path);
}

test("a turn in progress is not touched", async () => {
  using made = await place();
  await made.agent.begin("Work");
  made.edit("line 1", "first");
  const unfinished = 'refused: The turn of claude-code ("Work") has not ended yet.';
  expect(await refusal(planUndo(made.workspace, ["1"]))).toContain(unfinished);
});

test("`last` never skips a turn that has not ended", async () => {
  using made = await place();
  await made.turn(() => made.edit("line 6", "sixth"));
  await made.agent.begin("Work");
  expect(await refusal(planUndo(made.workspace, ["last"]))).toContain("has not ended yet");
  expect((await planUndo(made.workspace, ["2"])).write).toEqual(["lines.txt"]);
});

test("numbers of turns count back from the newest, with or without @, and ids of digits are found behind them", async () => {
  using made = await place();
  const { workspace, agent } = made;
  await made.turn(() => made.edit("line 6", "sixth"));
  await made.turn(() => made.edit("line 1", "first"));
  const [older = "", newest = ""] = agent.steps.filter(({ kind }) => kind === "turn-end").map(({ id }) => id);
  const found = async (word: string) => (await findTurns(workspace, [word])).map(({ last, back }) => [last.id, back]);
  for (const word of ["1", "@1"]) expect(await found(word)).toEqual([[newest, 1]]);
  for (const word of ["2", "@2"]) expect(await found(word)).toEqual([[older, 2]]);
  expect(await refusal(planUndo(workspace, ["0"]))).toContain("counted back from 1");
  expect(await refusal(planUndo(workspace, ["3"]))).toContain("There is no turn @3: 2 turns led here.");
});

test("a turn without changes is known as such", async () => {
  using made = await place();
  await made.turn(() => made.edit("line 6", "sixth"));
  await made.turn(() => {});
  const plan = await planUndo(made.workspace, ["last"]);
  expect([changedNothing(plan), plan.write]).toEqual([true, []]);
  expect(newestWithChanges(made.workspace)?.back).toBe(2);
  expect(changedNothing(await planUndo(made.workspace, ["2"]))).toBe(false);
});

test("undone turns are known as long as they are undone", async () => {
  using made = await place();
  const { workspace, agent } = made;
  await made.turn(() => made.edit("line 1", "first"));
  await made.turn(() => made.edit("line 6", "sixth"));
  const end = agent.steps.at(-1);
  await made.turn(() => made.edit("line 12", "last"));
  const undone = () => undoneTurns(workspace).map(({ turn }) => turn);
  await made.undo("2");
  await made.undo("3");
  expect(undone()).toEqual([1, 2]);
  await applyRedo(workspace, await planRedo(workspace));
  expect(undone()).toEqual([2]);
  // A rewind to before the undo leaves it behind; taken back, it is there again.
  if (!end) throw new Error("There is no step.");
  await applyRewind(workspace, await planRewind(workspace, { kind: "step", step: end }, { codeOnly: true }));
  expect([undone(), made.repository.read("lines.txt").includes("sixth")]).toEqual([[], true]);
  await applyRedo(workspace, await planRedo(workspace));
  expect([undone(), made.repository.read("lines.txt").includes("sixth")]).toEqual([[2], false]);
});

test("a subagent by its id, and with it those that it started; others at the same time are left alone", async () => {
  using made = await place();
  const { repository, workspace } = made;
  await made.turn(async () => {
    made.edit("line 1", "by the turn");
    await task(
      made,
      "outer",
      async () => {
        repository.write("outer.txt", "outer\n");
        await task(made, "inner", () => repository.write("inner.txt", "inner\n"), { toolUseId: "toolu_inner" });
      },
      { toolUseId: "toolu_outer", said: `{"uses":"toolu_inner"}` },
    );
    await task(made, "other", () => repository.write("other.txt", "other\n"), { toolUseId: "toolu_other" });
  });
  const found = await findTurns(workspace, ["outer"]);
  expect(found.map(({ subagent }) => subagent).sort()).toEqual(["inner", "outer"]);
  await made.undo("other");
  expect(repository.exists("other.txt")).toBe(false);
  expect(await refusal(planUndo(workspace, ["other"]))).toContain("is already undone");
  await made.undo("1");
  expect([repository.read("lines.txt"), repository.exists("other.txt")]).toEqual([LINES, false]);
  expect(await refusal(planUndo(workspace, ["other"]))).toContain("is already undone");
});

/** A subagent that has begun; what it returns ends it, having written these files by its tools. */
async function begunTask({ agent, repository }: Place, id: string) {
  const transcriptPath = repository.at("..", `${id}.jsonl`);
  const subagent = { id, type: "worker", description: id, prompt: null, transcriptPath, toolUseId: null };
  await agent.send("SubagentStart", { subagent });
  return async (...files: string[]) => {
    const content = files.map((file) => ({
      type: "tool_use",
      id: `toolu_${file}`,
      name: "Write",
      input: { file_path: repository.at(file), content: "" },
    }));
    const message = { id: "m1", role: "assistant", content };
    await Bun.write(transcriptPath, `${JSON.stringify({ type: "assistant", uuid: id, message })}\n`);
    await agent.send("SubagentEnd", { subagent });
    rmSync(transcriptPath);
  };
}

test("subagents side by side: what the turn itself did beside one stays, and what can't be separated is refused", async () => {
  using made = await place();
  const { repository, workspace } = made;
  await made.turn(async () => {
    const first = await begunTask(made, "first");
    const second = await begunTask(made, "second");
    const third = await begunTask(made, "third");
    repository.write("first.txt", "first\n");
    repository.write("by-its-shell.txt", "third\n");
    await third();
    await first("first.txt");
    repository.write("second.txt", "second\n");
    repository.write("of-the-turn.txt", "turn\n");
    await second("second.txt");
  });
  const deleted = async (id: string) => (await planUndo(workspace, [id])).delete;
  expect([await deleted("first"), await deleted("second")]).toEqual([["first.txt"], ["second.txt"]]);
  expect(await refusal(planUndo(workspace, ["third"]))).toContain("can't be separated from the work beside it");
});

test("without a step at its start, a turn begins where the session was last seen", async () => {
  using made = await place();
  made.agent.tier = "minimal";
  await made.agent.send("SessionStart", { metadata: { source: "startup" } });
  await made.turn(() => made.edit("line 1", "first"));
  await made.turn(() => made.edit("line 6", "sixth"));
  expect(made.agent.kinds).not.toContain("turn-start");
  await made.undo("2");
  expect(made.repository.read("lines.txt")).toBe(LINES.replace("line 6", "sixth"));
});

test("files removed then and recreated since, links, and changed file types are conflicts", async () => {
  using made = await place();
  const { repository } = made;
  symlinkSync("lines.txt", repository.at("link"));
  repository.write("gone.txt", LINES);
  repository.write("kind", "a file\n");
  await made.turn(() => {
    rmSync(repository.at("gone.txt"));
    unlinkSync(repository.at("link"));
    symlinkSync("elsewhere", repository.at("link"));
    rmSync(repository.at("kind"));
    mkdirSync(repository.at("kind"));
    repository.write("kind/inner", "inner\n");
  });
  repository.write("gone.txt", "another\n");
  unlinkSync(repository.at("link"));
  symlinkSync("third", repository.at("link"));
  repository.write("kind/later", "later\n");
  const plan = await planUndo(made.workspace, ["1"]);
  expect(Object.keys(reasonsOf(plan))).toEqual(["gone.txt", "kind", "link"]);
  const before = readFileSync(repository.at("gone.txt"), "utf8");
  expect(await refusal(applyUndo(made.workspace, plan))).toContain("Nothing was changed");
  expect(readFileSync(repository.at("gone.txt"), "utf8")).toBe(before);
});

test("a file in place of a directory stays, with markers too", async () => {
  using made = await place();
  const { repository, workspace } = made;
  repository.write("kind/inner", "inner\n");
  await made.turn(() => {
    rmSync(repository.at("kind"), { recursive: true });
    made.edit("line 1", "first");
  });
  repository.write("kind", "mine\n");
  const plan = await planUndo(workspace, ["1"], { markers: true });
  const { notes } = await applyUndo(workspace, plan);
  expect([repository.read("kind"), repository.read("lines.txt")]).toEqual(["mine\n", LINES]);
  expect(notes).toContainEqual({ kind: "conflicts-left", paths: ["kind", "kind/inner"] });
});

test("a submodule is left unchanged, and the plan says so", async () => {
  using made = await place();
  const { repository } = made;
  repository.git("clone", "--quiet", ".git", "../other");
  repository.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", repository.at("../other"), "sub");
  repository.git("commit", "--quiet", "-m", "sub");
  await made.turn(() => {
    repository.git("-C", "sub", "commit", "--quiet", "--allow-empty", "-m", "moved");
    made.edit("line 1", "first");
  });
  const plan = await planUndo(made.workspace, ["1"]);
  expect([plan.write, reasonsOf(plan)]).toEqual([["lines.txt"], {}]);
  expect(plan.notUndone).toContainEqual({ kind: "not-captured", path: "sub", reason: "submodule", isGone: false });
});

test("nothing of a merge is left behind, and a dry plan touches nothing", async () => {
  using made = await place();
  await made.turn(() => made.edit("line 1", "first"));
  await made.turn(() => made.edit("line 6", "sixth"));
  const status = made.repository.git("status", "--porcelain");
  const before = made.repository.read("lines.txt");
  await planUndo(made.workspace, ["2"]);
  expect([made.repository.git("status", "--porcelain"), made.repository.read("lines.txt")]).toEqual([status, before]);
  const left = new Bun.Glob("**/*.tmp*").scanSync({ cwd: made.workspace.stateDir, onlyFiles: false, dot: true });
  expect([...left]).toEqual([]);
  expect(made.repository.git("fsck", "--no-dangling", "--strict")).toBe("");
});

test("a conflict names the turn that made the later change", async () => {
  using made = await place();
  await made.turn(() => made.edit("line 6", "sixth"));
  await made.turn(() => made.edit("line 1", "first"));
  await made.turn(() => made.edit("sixth", "the sixth"));
  const last = made.agent.steps.findLast(({ kind }) => kind === "turn-end");
  expect(reasonsOf(await planUndo(made.workspace, ["3"]))).toEqual({
    "lines.txt": { kind: "same-lines", by: { kind: "turn", agent: "claude-code", step: last?.id ?? "" } },
  });
  made.edit("first", "mine");
  expect(reasonsOf(await planUndo(made.workspace, ["2"]))).toEqual({
    "lines.txt": { kind: "same-lines", by: { kind: "outside-turns" } },
  });
});

test("an undone turn is not blamed for a conflict with a later edit of the same line", async () => {
  using made = await place();
  await made.turn(() => made.edit("line 6", "sixth"));
  await made.turn(() => made.edit("sixth", "SIXTH"));
  await made.undo("1");
  made.edit("sixth", "sixth, by hand");
  const plan = await planUndo(made.workspace, ["2"]);
  expect(reasonsOf(plan)).toEqual({ "lines.txt": { kind: "same-lines", by: { kind: "outside-turns" } } });
});

test("a file that a later turn moved was not created by the turn where it is now", async () => {
  using made = await place();
  const { repository } = made;
  await made.turn(() => repository.write("cache.js", LINES));
  await made.turn(() => {
    repository.write("memo.js", LINES.replace("line 6", "sixth"));
    unlinkSync(repository.at("cache.js"));
  });
  const { "memo.js": reason } = reasonsOf(await planUndo(made.workspace, ["2"]));
  expect(reason).toMatchObject({ kind: "moved", by: { kind: "turn" } });
});
