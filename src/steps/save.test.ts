import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import { keyFor, save } from "../../test/support/saving.ts";
import { readJson, writeJson } from "../base/fs/files.ts";
import { tryAcquire } from "../base/fs/lock.ts";
import type { Workspace } from "../git/workspace.ts";
import { recordsFile } from "./conversation/files.ts";
import { readTranscript } from "./conversation/transcript.ts";
import { appendStep, indexFile, recordsNewestFirst } from "./index-file.ts";
import { stepsIn } from "./log.ts";

import { abandonedEntries, dropFromJournals, finishSaves } from "./save.ts";
import { sessionLock, sessionRef, stepPath } from "./session-tree.ts";

ownHome();

const PROGRAM = join(import.meta.dirname, "..", "..", "test", "support", "saving.ts");

async function place() {
  const repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  repository.write("new", "content");
  return { repository, workspace, [Symbol.dispose]: () => repository.remove() };
}

async function saveInChild(repository: TemporaryRepository, sessions: string, count: number, fault?: string) {
  const child = Bun.spawn([process.execPath, PROGRAM, repository.path, sessions, String(count)], {
    env: repository.environment(fault === undefined ? {} : { BACKTRAIL_FAULT: fault }),
    stdout: "pipe",
    stderr: "inherit",
  });
  const output = await new Response(child.stdout).text();
  await child.exited;
  return { signal: child.signalCode, ids: output.split("\n").filter(Boolean) };
}

function inRef(repository: TemporaryRepository, session: string): string[] {
  const ref = sessionRef(keyFor(session));
  try {
    const listed = repository.git("ls-tree", "-r", "--name-only", ref, "steps/");
    return [...new Set([...listed.matchAll(/^steps\/[^/]+\/([k-z]{12})\//gm)].map((match) => match[1] ?? ""))].sort();
  } catch {
    return [];
  }
}

function lines(workspace: Workspace): string[] {
  return stepsIn(workspace)
    .list({ worktree: workspace.worktree })
    .map((step) => step.id);
}

test("a step is in its session's ref, in the list, and nowhere that a person looks", async () => {
  using made = await place();
  const { repository, workspace } = made;
  const seen = () => [
    repository.git("log", "--all", "--oneline"),
    repository.git("status", "--porcelain"),
    repository.git("branch", "--all"),
  ];
  const before = seen();
  const [step] = await save(workspace, [{ session: "one" }]);
  expect(seen()).toEqual(before);
  expect(inRef(repository, "one")).toEqual([step?.id ?? ""]);
  expect(lines(workspace)).toEqual([step?.id ?? ""]);
  expect(readdirSync(join(workspace.storeDir, "journal"))).toEqual([]);
  expect([...recordsNewestFirst(recordsFile(workspace, keyFor("one")))]).toEqual(step ? [step] : []);
  expect(
    repository.git("show", `${sessionRef(keyFor("one"))}:${stepPath(step ?? { id: "", time: "" })}/work/new`),
  ).toBe("content");
  repository.git("fsck", "--strict");
});

for (const fault of ["save:journal", "save:ref", "save:copied", "save:listed", "save:state"]) {
  test(`killed at ${fault}: everything is there exactly once afterwards`, async () => {
    using made = await place();
    const { repository, workspace } = made;
    const { signal } = await saveInChild(repository, "one,two", 1, fault);
    expect(signal).toBe("SIGKILL");
    expect(abandonedEntries(workspace)).toHaveLength(1);
    const finished = await finishSaves(workspace);
    expect(finished.map((step) => step.session)).toEqual(["one", "two"]);
    for (const { id, session } of finished) {
      expect(inRef(repository, session ?? "")).toEqual([id]);
      expect(readJson(join(workspace.storeDir, "sessions", `${keyFor(session ?? "")}.json`))).toEqual({ revision: 1 });
    }
    expect(lines(workspace).sort()).toEqual(finished.map((step) => step.id).sort());
    for (const step of finished)
      expect([...recordsNewestFirst(recordsFile(workspace, keyFor(step.session ?? "")))]).toEqual([step]);
    expect(await finishSaves(workspace)).toEqual([]);
    expect(readdirSync(join(workspace.storeDir, "journal"))).toEqual([]);
    repository.git("fsck", "--strict");
  });
}

for (const fault of ["save:segments", "save:objects"]) {
  test(`killed at ${fault}, before anything was promised: nothing is there, and nothing is broken`, async () => {
    using made = await place();
    const { repository, workspace } = made;
    expect((await saveInChild(repository, "one,two", 1, fault)).signal).toBe("SIGKILL");
    expect(await finishSaves(workspace)).toEqual([]);
    expect(lines(workspace)).toEqual([]);
    expect(inRef(repository, "one")).toEqual([]);
    repository.git("fsck", "--strict");
  });
}

test("a save that an earlier version began is finished, and its conversation becomes a file", async () => {
  using made = await place();
  const { repository, workspace } = made;
  const [step] = await save(workspace, [{ session: "other" }]);
  if (!step) throw new Error("Nothing was saved.");
  const said = repository.at("said");
  writeFileSync(said, "hello\n");
  const segment = { stream: "transcript", generation: 0, offset: 0, id: repository.git("hash-object", "-w", said) };
  const record = { ...step, id: "kkkkkkkkkkkk", session: "one" };
  const tree = repository.git("rev-parse", `${sessionRef(keyFor("other"))}:${stepPath(step)}`);
  const saved = { key: keyFor("one"), step: record, stepTree: tree, segments: [segment], alongside: null };
  writeJson(join(workspace.storeDir, "journal", `${record.id}.json`), { v: 1, pid: 1, pidStart: "0", saves: [saved] });
  expect((await finishSaves(workspace)).map(({ id }) => id)).toEqual([record.id]);
  expect(inRef(repository, "one")).toEqual([record.id]);
  expect((await readTranscript(workspace, keyFor("one"), 0, 100)).toString()).toBe("hello\n");
  expect([...recordsNewestFirst(recordsFile(workspace, keyFor("one")))]).toEqual([record]);
});

test("interrupted saves of a session that is being forgotten are not finished; those of another session are", async () => {
  using made = await place();
  const { repository, workspace } = made;
  await saveInChild(repository, "one,two", 1, "save:journal");
  dropFromJournals(workspace, new Set([keyFor("one")]));
  expect((await finishSaves(workspace)).map(({ session }) => session)).toEqual(["two"]);
  await saveInChild(repository, "one", 1, "save:journal");
  dropFromJournals(workspace, new Set([keyFor("one")]));
  expect(readdirSync(join(workspace.storeDir, "journal"))).toEqual([]);
});

test("a conflict between two commits of a submodule is recorded, and git stays whole", async () => {
  using made = await place();
  const { repository, workspace } = made;
  const unmerged = [1, 2, 3].map((n): [number, string, string] => [n, "160000", String(n).repeat(40)]);
  repository.git("rm", "--cached", "--quiet", "--ignore-unmatch", "sub");
  const lines = unmerged.map(([stage, mode, id]) => `${mode} ${id} ${stage}\tsub\n`).join("");
  execFileSync("git", ["update-index", "--index-info"], { cwd: repository.path, input: lines });
  const [step] = await save(workspace, [{ session: "one" }]);
  expect(step?.snapshot.unmerged).toEqual([{ path: "sub", stages: unmerged }]);
  repository.git("gc", "--quiet", "--prune=now");
  repository.git("rev-list", "--objects", "--quiet", sessionRef(keyFor("one")));
});

test("a save whose objects were pruned is given up, and the repository stays intact", async () => {
  using made = await place();
  const { repository, workspace } = made;
  await saveInChild(repository, "one", 1, "save:journal");
  repository.git("gc", "--quiet", "--prune=now");
  expect(await finishSaves(workspace)).toEqual([]);
  expect(abandonedEntries(workspace)).toEqual([]);
  expect(inRef(repository, "one")).toEqual([]);
  repository.git("fsck", "--strict");
  repository.git("gc", "--quiet");
});

test("a state that is newer than the one left behind stays", async () => {
  using made = await place();
  const { repository, workspace } = made;
  await saveInChild(repository, "one", 1, "save:journal");
  const file = join(workspace.storeDir, "sessions", `${keyFor("one")}.json`);
  writeJson(file, { revision: 7 });
  expect(await finishSaves(workspace)).toHaveLength(1);
  expect(readJson(file)).toEqual({ revision: 7 });
});

test("a locked session's save is left to the lock's holder, and a running process's save to that process", async () => {
  using made = await place();
  const { repository, workspace } = made;
  await saveInChild(repository, "one", 1, "save:journal");
  const lock = tryAcquire(sessionLock(workspace, keyFor("one")));
  expect(await finishSaves(workspace)).toEqual([]);
  expect(await finishSaves(workspace, keyFor("one"))).toHaveLength(1);
  lock?.release();
  const journal = join(workspace.storeDir, "journal", "kkkkkkkkkkkk.json");
  writeFileSync(journal, JSON.stringify({ v: 1, pid: process.pid, pidStart: null, saves: [{}] }));
  writeFileSync(join(workspace.storeDir, "journal", "torn.json"), '{"v":1,');
  expect(await finishSaves(workspace)).toEqual([]);
  expect(existsSync(journal)).toBe(true);
});

test("processes that save at once, into one session and into two, lose nothing", async () => {
  using made = await place();
  const { repository, workspace } = made;
  const results = await Promise.all([
    saveInChild(repository, "one", 5),
    saveInChild(repository, "one,two", 5),
    saveInChild(repository, "two", 5),
  ]);
  const ids = results.flatMap((result) => result.ids);
  expect(ids).toHaveLength(20);
  expect(lines(workspace).sort()).toEqual([...ids].sort());
  expect([...inRef(repository, "one"), ...inRef(repository, "two")].sort()).toEqual([...ids].sort());
  repository.git("gc", "--quiet", "--prune=now");
  repository.git("fsck", "--strict", "--full");
  expect([...inRef(repository, "one"), ...inRef(repository, "two")].sort()).toEqual([...ids].sort());
});

test("git's own garbage collection between saves keeps every step, conflicts and exact bytes included", async () => {
  using made = await place();
  const { repository, workspace } = made;
  repository.git("config", "core.autocrlf", "input");
  const steps = [];
  for (let i = 0; i < 3; i++) {
    repository.write("new", `content ${i}\r\n`);
    steps.push(...(await save(workspace, [{ session: "one" }])));
    repository.git("gc", "--quiet", "--prune=now");
  }
  for (const { snapshot } of steps) {
    repository.git("rev-list", "--objects", "--quiet", snapshot.work);
    expect(snapshot.raw).not.toBeNull();
    repository.git("rev-list", "--objects", "--quiet", snapshot.raw ?? "");
  }
  expect(inRef(repository, "one")).toHaveLength(3);
});

test("the list: newest first across blocks, torn and foreign lines skipped, deletions and repetitions honored", async () => {
  using made = await place();
  const { workspace } = made;
  const [step] = await save(workspace, [{ session: "one" }]);
  if (!step) throw new Error("Nothing was saved.");
  const named = (i: number) =>
    `kkkk${i
      .toString()
      .padStart(8, "0")
      .replace(/\d/g, (digit) => "lmnopqrstu".charAt(Number(digit)))}`;
  // Long enough that lines and letters lie across the blocks that are read.
  for (let i = 0; i < 400; i++) appendStep(workspace, { ...step, id: named(i), prompt: `€${"ü".repeat(i * 3)}` });
  const found = stepsIn(workspace).list();
  expect(found.map((one) => one.id)).toEqual([...Array.from({ length: 400 }, (_, i) => named(399 - i)), step.id]);
  expect(found[10]?.prompt).toBe(`€${"ü".repeat(389 * 3)}`);
  appendFileSync(indexFile(workspace), '{"v":1,"id":"torn');
  appendStep(workspace, { v: 1, deleted: named(399) });
  appendFileSync(indexFile(workspace), '\n\n[]\nnull\n{"v":9,"id":"llllllllllll"}\n{"v":1}\n');
  appendStep(workspace, { ...step, id: named(398) });
  expect(
    stepsIn(workspace)
      .list()
      .slice(0, 2)
      .map((one) => one.id),
  ).toEqual([named(398), named(397)]);
  expect(stepsIn(workspace).list()).toHaveLength(400);
});

test("a step is found by the beginning of its id, and only if that is enough", async () => {
  using made = await place();
  const { workspace } = made;
  const [step] = await save(workspace, [{ session: "one" }]);
  if (!step) throw new Error("Nothing was saved.");
  for (const id of ["kkkklmnopqrs", "kkkklmnopqrt", "kkkkllllllll"])
    appendStep(workspace, { ...step, id, worktree: "other" });
  expect(stepsIn(workspace).byId("kkkkll")?.id).toBe("kkkkllllllll");
  expect(stepsIn(workspace).byId("kkkklmnopqrs")?.id).toBe("kkkklmnopqrs");
  expect(() => stepsIn(workspace).byId("kkkklm")).toThrow("could be any of");
  expect(stepsIn(workspace).byId("zzzzzzzzzzzz")).toBeUndefined();
  expect(
    stepsIn(workspace)
      .list({ worktree: workspace.worktree })
      .map((one) => one.id),
  ).toEqual([step.id]);
  expect(stepsIn(workspace).list()).toHaveLength(4);
  expect(stepsIn(workspace).list({ limit: 2 })).toHaveLength(2);
  expect(stepsIn(workspace).list({ worktree: workspace.worktree, session: "two" })).toEqual([]);
});
