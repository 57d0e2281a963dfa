import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../../test/support/own-process.ts";
import { keyFor, save } from "../../../test/support/saving.ts";
import { loadSnapshotCache } from "../../git/index/stat-cache.ts";
import type { Step } from "../../model/step.ts";
import { stepsIn } from "../log.ts";
import { sessionRef } from "../session-tree.ts";
import { countedSize, dropSteps, planPruning, type Retention, sizeOfSteps } from "./retention.ts";

ownHome();

const FOREVER = { days: 10_000, maxSize: Number.POSITIVE_INFINITY };
const DAY = 24 * 60 * 60 * 1000;

function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY).toISOString();
}

test("steps past their days go, named ones stay, and nothing that is left breaks", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  repository.write("a.txt", "old");
  const [old] = await save(workspace, [{ session: "one", details: { time: daysAgo(40) } }]);
  const [named] = await save(workspace, [{ session: "one", details: { time: daysAgo(39), name: "keep me" } }]);
  repository.write("a.txt", "new");
  const [fresh] = await save(workspace, [{ session: "one" }]);

  expect((await planPruning(workspace, FOREVER)).steps).toEqual([]);
  const plan = await planPruning(workspace, { days: 30, maxSize: Number.POSITIVE_INFINITY });
  expect(plan.steps.map((step) => step.id)).toEqual([old?.id ?? ""]);
  expect(stepsIn(workspace).list({ worktree: workspace.worktree })).toHaveLength(3);

  await dropSteps(workspace, plan.steps);
  expect(
    stepsIn(workspace)
      .list({ worktree: workspace.worktree })
      .map((step) => step.id),
  ).toEqual([fresh?.id ?? "", named?.id ?? ""]);
  repository.git("gc", "--quiet", "--prune=now");
  repository.git("fsck", "--strict");
  for (const step of stepsIn(workspace).list({ worktree: workspace.worktree }))
    repository.git("ls-tree", "-r", step.snapshot.work);
  expect(loadSnapshotCache(workspace)).toBeUndefined();
});

test("a step that was taken while the clock was behind is as old as those before it", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const [old] = await save(workspace, [{ session: "one", details: { time: daysAgo(40) } }]);
  await save(workspace, [{ session: "one", details: { time: daysAgo(1) } }]);
  repository.write("a.txt", "only the step that was taken at the wrong time has this");
  await save(workspace, [{ session: "one", details: { time: daysAgo(7 * 365) } }]);
  repository.write("a.txt", "else");
  await save(workspace, [{ session: "one", details: { time: daysAgo(-365) } }]);
  await save(workspace, [{ session: "one" }]);
  const plan = await planPruning(workspace, { days: 30, maxSize: Number.POSITIVE_INFINITY });
  expect(plan.steps.map((step) => step.id)).toEqual([old?.id ?? ""]);
});

test("a clock that was ahead once keeps nothing for longer", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  await save(workspace, [{ session: "one", details: { time: daysAgo(-365) } }]);
  repository.write("a.txt", "old");
  const [old] = await save(workspace, [{ session: "one", details: { time: daysAgo(40) } }]);
  const plan = await planPruning(workspace, { days: 30, maxSize: Number.POSITIVE_INFINITY });
  expect(plan.steps.map((step) => step.id)).toEqual([old?.id ?? ""]);
});

test("a session without steps leaves no ref, and its objects are git's to prune", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  repository.write("gone.txt", "only a step knew this");
  const [step] = await save(workspace, [{ session: "gone" }]);
  repository.git("rev-parse", sessionRef(keyFor("gone")));
  await dropSteps(workspace, step ? [step] : []);
  expect(() => repository.git("rev-parse", "--verify", "--quiet", sessionRef(keyFor("gone")))).toThrow();
  repository.git("gc", "--quiet", "--prune=now");
  expect(() => repository.git("cat-file", "-e", step?.snapshot.work ?? "")).toThrow();
});

test("beyond the size the oldest go first, and the newest stays", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) {
    repository.write("big.bin", randomBytes(200_000));
    const [step] = await save(workspace, [{ session: "big", details: { time: daysAgo(6 - i) } }]);
    ids.push(step?.id ?? "");
  }
  const plan = await planPruning(workspace, { days: 10_000, maxSize: 500_000 });
  expect(plan.sizeBefore).toBeGreaterThan(1_000_000);
  expect(plan.sizeAfter).toBeLessThan(500_000);
  expect(plan.steps.map((step) => step.id)).toEqual(ids.slice(0, plan.steps.length));
  const tiny = await planPruning(workspace, { days: 10_000, maxSize: 1 });
  expect(tiny.steps.map((step) => step.id)).toEqual(ids.slice(0, -1));
});

test("what the user's commits hold is not counted", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  for (let i = 0; i < 5; i++) repository.write(`big${i}`, randomBytes(100_000));
  repository.commit("large");
  await save(workspace, [{ session: "one" }]);
  expect(await sizeOfSteps(workspace)).toBeLessThan(10_000);
  // Nor what a commit held that no branch leads to any more by its newest tree.
  repository.git("rm", "--quiet", "big0", "big1");
  repository.commit("smaller");
  await save(workspace, [{ session: "one" }]);
  expect(await sizeOfSteps(workspace)).toBeLessThan(10_000);
  repository.write("mine", randomBytes(50_000));
  await save(workspace, [{ session: "one" }]);
  expect(await sizeOfSteps(workspace)).toBeGreaterThan(50_000);
});

test("safety steps expire by age alone and do not count towards the size limit", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const ids: string[] = [];
  const add = async (kind: Step["kind"], days: number, bytes: number) => {
    repository.write("big.bin", randomBytes(bytes));
    const [step] = await save(workspace, [{ session: "one", details: { kind, time: daysAgo(days) } }]);
    ids.push(step?.id ?? "");
    return step;
  };
  const gone = async (limits: Retention) =>
    (await planPruning(workspace, limits)).steps.map(({ id }) => ids.indexOf(id));
  await add("safety", 40, 1_000);
  await add("safety", 6, 900_000);
  const turn = await add("turn-end", 5, 200_000);
  await add("turn-end", 4, 200_000);
  await add("turn-end", 3, 200_000);
  await add("turn-end", 2, 1_000);
  // 900 kB that can be redone are not counted, and not dropped.
  expect(await gone({ days: 30, maxSize: 700_000 })).toEqual([0]);
  expect(await gone({ days: 30, maxSize: 300_000 })).toEqual([0, 2, 3]);
  expect(await gone({ days: 30, maxSize: 0 })).toEqual([0, 2, 3, 4]);
  // What an undo needs to be taken back stays, too.
  const needed = new Set([turn?.snapshot.work ?? ""]);
  expect(await gone({ days: 30, maxSize: 300_000, needed })).toEqual([0, 3]);
  expect(await countedSize(workspace, needed)).toBeLessThan(500_000);
  expect(await sizeOfSteps(workspace)).toBeGreaterThan(1_500_000);
  // A week at least, however few days the others have.
  expect(await gone({ days: 1, maxSize: Number.POSITIVE_INFINITY })).toEqual([0, 2, 3, 4, 5]);
});
