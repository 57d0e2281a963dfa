import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import { keyFor, save } from "../../test/support/saving.ts";
import { importedSessions, writeImported } from "../checkpoints/import/store.ts";
import { ownFile } from "../config/load.ts";
import type { Workspace } from "../git/workspace.ts";
import { droppedRef, type ForkRecord, writeForkRecord } from "../steps/forks.ts";
import { indexFile } from "../steps/index-file.ts";
import { stepsIn } from "../steps/log.ts";
import { expire, expireIfDue, planExpiry } from "./expiry.ts";
import { runWorker } from "./worker.ts";

ownHome();
afterEach(() => {
  delete process.env["BACKTRAIL_CLOCK"];
});

const DAY = 24 * 60 * 60 * 1000;
const MONTH = { days: 30, maxSize: Number.POSITIVE_INFINITY, conversations: 5 * 2 ** 30 };

const FORK: ForkRecord = {
  v: 1,
  id: "kkkkkkkkkkkk",
  name: "again",
  kind: "branch",
  state: "ready",
  time: new Date().toISOString(),
  from: { step: null, worktree: "main", root: "/", prompt: null },
  base: { work: "0".repeat(40), raw: null },
  commit: null,
  branch: "again",
  directory: null,
  worktree: null,
  chat: null,
  making: null,
};

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * DAY);
}

/** A file of the store that was last written so many days ago. */
function aged(workspace: Workspace, name: string, days: number): string {
  const path = join(workspace.storeDir, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "x".repeat(100));
  for (const place of [path, join(path, "..")]) utimesSync(place, daysAgo(days), daysAgo(days));
  return path;
}

test("everything with conversations expires at the same age; files that restores kept stay longer", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const transcripts = [aged(workspace, "opencode/ses_old.jsonl", 31), aged(workspace, "opencode/ses_new.jsonl", 29)];
  const told = [aged(workspace, "hand-over/klm.md", 31), aged(workspace, "hand-over/kln.md", 29)];
  const inUse = aged(workspace, "hand-over/klo.md", 31);
  const chat = { agent: "codex", session: null, file: inUse, command: "codex" };
  writeForkRecord(workspace, { ...FORK, chat });
  repository.commit("the user's");
  const refs = [droppedRef("klm", daysAgo(32)), droppedRef("kln", daysAgo(29)), "refs/backtrail/dropped/klo"];
  for (const ref of refs) repository.git("update-ref", ref, "HEAD");
  repository.git("pack-refs", "--all");
  const kept = [
    aged(workspace, "worktrees/main/kept/klm/a.txt", 91),
    aged(workspace, "worktrees/main/kept/kln/a.txt", 89),
  ];
  for (const [session, days] of [["old", 31] as const, ["new", 29] as const]) {
    const record = { agent: "codex", session, title: null, model: null, tokens: null, size: 2, turns: [] };
    await writeImported(workspace, { v: 1, ...record, importedAt: daysAgo(days).toISOString() }, Buffer.from("{}"));
  }
  const plan = await planExpiry(workspace, MONTH);
  expect(plan.others.map(({ kind, bytes }) => [kind, bytes])).toEqual([
    ["imported", 2],
    ["transcript", 100],
    ["hand-over", 100],
    ["kept", 100],
    ["commits", 0],
  ]);
  expect(transcripts.map(existsSync)).toEqual([true, true]);
  await expire(workspace, plan);
  expect(transcripts.map(existsSync)).toEqual([false, true]);
  expect(told.map(existsSync)).toEqual([false, true]);
  expect(existsSync(inUse)).toBe(true);
  expect(repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail/dropped").split("\n")).toEqual([
    refs[1] ?? "",
    refs[2] ?? "",
  ]);
  expect(kept.map(existsSync)).toEqual([false, true]);
  expect((await importedSessions(workspace)).map(({ session }) => session)).toEqual(["new"]);
  expect((await planExpiry(workspace, MONTH)).others).toEqual([]);
});

test("a step that is gone leaves no prompt in the list", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  await save(workspace, [{ session: "one", details: { time: daysAgo(40).toISOString(), prompt: "the old plan" } }]);
  await save(workspace, [{ session: "one", details: { prompt: "the new plan" } }]);
  await expire(workspace, await planExpiry(workspace, MONTH));
  expect(readFileSync(indexFile(workspace), "utf8")).not.toContain("the old plan");
  expect(
    stepsIn(workspace)
      .list({ worktree: workspace.worktree })
      .map(({ prompt }) => prompt),
  ).toEqual(["the new plan"]);
});

test("a clock that is ahead at the first expiry deletes nothing", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  await save(workspace, [{ session: "one" }]);
  process.env["BACKTRAIL_CLOCK"] = daysAgo(-3650).toISOString();
  await expireIfDue(workspace);
  expect(stepsIn(workspace).list({ worktree: workspace.worktree })).toHaveLength(1);
  process.env["BACKTRAIL_CLOCK"] = daysAgo(-2).toISOString();
  await expireIfDue(workspace);
  expect(stepsIn(workspace).list({ worktree: workspace.worktree })).toHaveLength(1);
});

test("a clock that jumps ahead for a while takes nothing with it", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  await save(workspace, [{ session: "one" }]);
  await expireIfDue(workspace);
  const at = (days: number) => {
    process.env["BACKTRAIL_CLOCK"] = daysAgo(-days).toISOString();
    return expireIfDue(workspace);
  };
  await at(3650);
  expect(stepsIn(workspace).list({ worktree: workspace.worktree })).toHaveLength(1);
  // Put right again: the stamp from the future keeps nobody from pruning.
  await at(2);
  await at(4);
  expect(stepsIn(workspace).list({ worktree: workspace.worktree })).toHaveLength(1);
  // And really later, day by day, it goes.
  for (const days of [16, 28, 31]) await at(days);
  expect(stepsIn(workspace).list({ worktree: workspace.worktree })).toHaveLength(0);
});

test("the user's own unreachable objects are not pruned", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  repository.write("a.txt", "stashed\n");
  repository.git("add", "a.txt");
  repository.git("stash", "--quiet");
  const dropped = repository.git("rev-parse", "stash@{0}");
  repository.git("stash", "drop", "--quiet");
  const loose = repository.git("hash-object", "-w", "README.md", "--no-filters");
  const [step] = await save(workspace, [{ session: "old", details: { time: daysAgo(60).toISOString() } }]);
  const old = daysAgo(400);
  for (const id of [dropped, loose]) utimesSync(repository.at(".git/objects", id.slice(0, 2), id.slice(2)), old, old);
  // Loose objects and packs enough that everything the worker ever does is done.
  for (let i = 0; i < 30; i++) {
    writeFileSync(join(repository.path, `f${i}`), String(i));
    repository.git("hash-object", "-w", `f${i}`);
    await save(workspace, [{ session: "new" }]);
  }
  mkdirSync(repository.at(".git/objects/17"), { recursive: true });
  for (let i = 0; i < 40; i++) writeFileSync(repository.at(".git/objects/17", `tmp_${i}`), "");
  // A lock of git's own maintenance, which a killed git left, is in nobody's way.
  writeFileSync(repository.at(".git/objects/maintenance.lock"), "");
  await runWorker(repository.path);
  expect(repository.exists(".git/objects/maintenance.lock")).toBe(true);
  expect(repository.git("count-objects")).toStartWith("0 objects");
  expect(stepsIn(workspace).list({ worktree: workspace.worktree, session: "old" })).toEqual([]);
  repository.git("cat-file", "-e", dropped);
  repository.git("cat-file", "-e", loose);
  expect(step && keyFor("old")).toBeTruthy();
  repository.git("fsck", "--strict", "--no-dangling");
}, 60_000);

test("while the user's own limits can't be read, nothing is dropped", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  await save(workspace, [{ session: "one", details: { time: daysAgo(40).toISOString() } }]);
  await save(workspace, [{ session: "one" }]);
  const settings = ownFile(workspace);
  for (const content of ["{ broken", '{"retention":{"days":"a year"}}']) {
    writeFileSync(settings, content);
    await expireIfDue(workspace);
    expect(stepsIn(workspace).list({ worktree: workspace.worktree })).toHaveLength(2);
    rmSync(join(workspace.storeDir, "pruned"));
  }
  writeFileSync(settings, '{"retention":{"days":30}}');
  await expireIfDue(workspace);
  expect(stepsIn(workspace).list({ worktree: workspace.worktree })).toHaveLength(1);
});
