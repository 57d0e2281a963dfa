import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import { keyFor, save } from "../../test/support/saving.ts";
import { loadSnapshotCache } from "../git/stat-cache.ts";
import { listSteps } from "./list.ts";
import { dropSteps, planPruning, sizeOfSteps } from "./retention.ts";
import { sessionRef } from "./session-tree.ts";

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
  expect(listSteps(workspace)).toHaveLength(3);

  await dropSteps(workspace, plan.steps);
  expect(listSteps(workspace).map((step) => step.id)).toEqual([fresh?.id ?? "", named?.id ?? ""]);
  repository.git("gc", "--quiet", "--prune=now");
  repository.git("fsck", "--strict");
  for (const step of listSteps(workspace)) repository.git("ls-tree", "-r", step.snapshot.work);
  expect(loadSnapshotCache(workspace)).toBeUndefined();
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
