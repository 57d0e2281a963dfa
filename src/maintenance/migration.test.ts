import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryRepository } from "../../test/support/index.ts";
import { toOldLayout } from "../../test/support/old-layout.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import { keyFor, save } from "../../test/support/saving.ts";
import { tryAcquire } from "../base/fs/lock.ts";
import { type ImportedSession, importedSessions } from "../checkpoints/import/store.ts";
import { hasCurrentLayout, type Workspace } from "../git/workspace.ts";
import { recordsFile } from "../steps/conversation/files.ts";
import { readTranscript } from "../steps/conversation/transcript.ts";
import { recordsNewestFirst } from "../steps/index-file.ts";
import { stepsIn } from "../steps/log.ts";
import { sessionLock, sessionRef } from "../steps/session-tree.ts";
import { oldObjects, tidyOldObjects } from "../steps/upkeep/old-objects.ts";
import { brokenConversations, compareIndex } from "./doctor/store-check.ts";
import { migrateStore } from "./migration.ts";

ownHome();

const PROGRAM = join(import.meta.dirname, "..", "..", "test", "support", "migrating.ts");
const WORDS = ["FIRST-WORDS", "SECOND-WORDS", "TASK-WORDS", "MY-PROMPT"];

/** A store of an earlier version: one session with two steps and a subagent's conversation, one without any conversation. */
async function oldStore() {
  const repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const said = (offset: number, text: string, stream = "transcript") => ({
    stream,
    generation: 0,
    offset,
    data: Buffer.from(text),
  });
  const at = (offset: number) => ({ path: "/t", offset, lastId: null, generation: 0 });
  repository.write("a.txt", "one\n");
  await save(workspace, [
    { session: "one", segments: [said(0, "FIRST-WORDS\n")], details: { prompt: "MY-PROMPT", transcript: at(12) } },
  ]);
  repository.write("a.txt", "two\n");
  await save(workspace, [
    {
      session: "one",
      segments: [said(12, "SECOND-WORDS\n"), said(0, "TASK-WORDS\n", "tasks/kkkkkkkkkkkk")],
      details: { transcript: at(25) },
    },
    { session: "two" },
  ]);
  await toOldLayout(workspace);
  return { repository, workspace, [Symbol.dispose]: () => repository.remove() };
}

function inObjects(repository: TemporaryRepository): string[] {
  const all = repository.git("cat-file", "--batch-all-objects", "--batch", "--unordered");
  return WORDS.filter((word) => all.includes(word));
}

async function expectMigrated(workspace: Workspace, repository: TemporaryRepository): Promise<void> {
  const key = keyFor("one");
  expect((await readTranscript(workspace, key, 0, 25)).toString()).toBe("FIRST-WORDS\nSECOND-WORDS\n");
  expect((await readTranscript(workspace, key, 0, 100, "tasks/kkkkkkkkkkkk")).toString()).toBe("TASK-WORDS\n");
  const listed = stepsIn(workspace).list();
  expect(listed).toHaveLength(3);
  const records = [
    ...recordsNewestFirst(recordsFile(workspace, key)),
    ...recordsNewestFirst(recordsFile(workspace, keyFor("two"))),
  ];
  expect(new Set(records.map(({ id }) => id))).toEqual(new Set(listed.map(({ id }) => id)));
  expect(await compareIndex(workspace)).toEqual({
    inRefs: 3,
    unlisted: [],
    unknown: [],
    unheld: [],
    uncopied: [],
    broken: [],
  });
  expect(await brokenConversations(workspace)).toEqual([]);
  for (const session of ["one", "two"]) {
    const names = repository.git("ls-tree", "-r", "--name-only", sessionRef(keyFor(session)));
    expect(names).not.toMatch(/step\.json|transcript|tasks/);
    expect(names).toContain("a.txt");
  }
}

test("conversations of an earlier version become files, and git's own prune frees what held them", async () => {
  using made = await oldStore();
  const { repository, workspace } = made;
  expect([hasCurrentLayout(workspace), inObjects(repository)]).toEqual([false, WORDS]);
  expect(await migrateStore(workspace)).toBe(true);
  await expectMigrated(workspace, repository);
  expect(hasCurrentLayout(workspace)).toBe(true);
  // Nothing of git's is pruned by us; what still has it is known.
  expect(inObjects(repository)).toEqual(WORDS);
  expect((await oldObjects(workspace, new Set([keyFor("one")]))).length).toBe(5);
  expect((await oldObjects(workspace)).length).toBe(7);
  repository.git("gc", "--quiet", "--prune=now");
  expect(inObjects(repository)).toEqual([]);
  expect(await oldObjects(workspace)).toEqual([]);
  await tidyOldObjects(workspace);
  expect(readdirSync(workspace.storeDir)).not.toContain("old-objects");
  await expectMigrated(workspace, repository);
  repository.git("fsck", "--strict");
});

for (const fault of ["conversation:joined", "migrate:files", "migrate:noted", "migrate:ref"]) {
  test(`killed at ${fault}: nothing is lost, and doing it again finishes it`, async () => {
    using made = await oldStore();
    const { repository, workspace } = made;
    const child = Bun.spawn([process.execPath, PROGRAM, repository.path], {
      env: repository.environment({ BACKTRAIL_FAULT: fault }),
      stdio: ["ignore", "ignore", "inherit"],
    });
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    expect((await readTranscript(workspace, keyFor("one"), 0, 25)).toString()).toBe("FIRST-WORDS\nSECOND-WORDS\n");
    expect(await migrateStore(workspace)).toBe(true);
    await expectMigrated(workspace, repository);
    expect((await oldObjects(workspace)).length).toBe(7);
  });
}

test("a locked session waits; steps saved meanwhile are kept", async () => {
  using made = await oldStore();
  const { repository, workspace } = made;
  const lock = tryAcquire(sessionLock(workspace, keyFor("one")));
  expect(await migrateStore(workspace)).toBe(false);
  expect(hasCurrentLayout(workspace)).toBe(false);
  lock?.release();
  const data = Buffer.from("THIRD\n");
  await save(workspace, [{ session: "one", segments: [{ stream: "transcript", generation: 0, offset: 25, data }] }]);
  expect(await migrateStore(workspace)).toBe(true);
  expect((await readTranscript(workspace, keyFor("one"), 0, 100)).toString()).toEndWith("SECOND-WORDS\nTHIRD\n");
  expect(stepsIn(workspace).list()).toHaveLength(4);
  expect(inObjects(repository)).toEqual(WORDS);
});

test("a new store has nothing to migrate, and nothing is left in the repository by looking", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  await save(workspace, [{ session: "one" }]);
  const before = repository.git("count-objects");
  expect(hasCurrentLayout(workspace)).toBe(true);
  expect(await migrateStore(workspace)).toBe(true);
  expect(repository.git("count-objects")).toBe(before);
});

test("sessions that an earlier version imported become files", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const session: ImportedSession = {
    v: 1,
    agent: "test-agent",
    session: "old",
    title: "FIRST-WORDS",
    model: null,
    tokens: null,
    importedAt: "2026-01-05T09:00:00.000Z",
    size: 13,
    turns: [],
  };
  repository.write("session.json", JSON.stringify(session));
  repository.write("transcript", "SECOND-");
  repository.write("transcript.001", "WORDS\n");
  const blob = (file: string) => `100644 blob ${repository.git("hash-object", "-w", file)}\t${file}`;
  const listing = ["session.json", "transcript", "transcript.001"].map(blob).join("\n");
  const tree = Bun.spawnSync(["git", "mktree"], { cwd: repository.path, stdin: Buffer.from(`${listing}\n`) });
  const ref = `refs/backtrail/imported/${keyFor("old")}`;
  repository.git("update-ref", ref, tree.stdout.toString().trim());
  expect(await importedSessions(workspace)).toEqual([session]);
  await migrateStore(workspace);
  expect(await importedSessions(workspace)).toEqual([{ ...session, generation: 0 }]);
  expect(repository.git("for-each-ref", ref)).toBe("");
  const directory = join(workspace.storeDir, "imported", keyFor("old"));
  expect(
    Bun.inflateSync(readFileSync(join(directory, "transcript", "0", `${"0".repeat(14)}.z`)), { windowBits: 15 }),
  ).toEqual(new Uint8Array(Buffer.from("SECOND-\nWORDS\n")));
});
