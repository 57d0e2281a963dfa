/**
 * Moves conversations and step records of earlier versions from the repository's object store, where anyone with access
 * to the repository can read and clone them, to private files. Writes the files before the ref, so that a killed run
 * can be repeated. Does not prune git's objects; lists them so that `doctor` and `forget` can report how to delete
 * them.
 */

import { faultPoint } from "../../base/fault-point.ts";
import { tryAcquire } from "../../base/fs/lock.ts";
import { log } from "../../base/log.ts";
import { ObjectStore } from "../../git/objects/object-store.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import { TREE_MODE, type TreeEntry, TreeStore } from "../../git/objects/trees.ts";
import { ObjectWriter } from "../../git/objects/writer.ts";
import { removeReflog } from "../../git/reflog.ts";
import { compareAndSwapRef, readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import {
  conversationDirectory,
  readSegments,
  recordsFile,
  rewriteSessionRecords,
  rewriteStream,
  type StoredSegment,
} from "../conversation/files.ts";
import { parseStep, recordsNewestFirst } from "../index-file.ts";
import { sessionRoots } from "../session-refs.ts";
import { directoryAt, sessionLock, sessionRef } from "../session-tree.ts";
import { noteOldObjects } from "./old-objects.ts";

/** The parts of a session's tree that belong in files. */
interface OldLayout {
  streams: { stream: string; generation: number; segments: { offset: number; id: string }[] }[];
  records: { path: string; id: string }[];
}

const RECORD = "step.json";

/** Returns the number of migrated sessions, and the number skipped because another process was using them. */
export async function migrateSessions(workspace: Workspace): Promise<{ moved: number; busy: number }> {
  const result = { moved: 0, busy: 0 };
  using objects = new ObjectStore(workspace);
  for (const [key, root] of await sessionRoots(workspace)) {
    if (!hasOldLayout(await oldLayout(objects.trees, root))) continue;
    const lock = tryAcquire(sessionLock(workspace, key));
    try {
      if (lock && (await moveOut(workspace, objects.reader, key))) result.moved++;
      else result.busy++;
    } finally {
      lock?.release();
    }
  }
  return result;
}

/** Requires the session's lock. Returns false if the ref has just moved; the caller can safely retry. */
export async function migrateSession(workspace: Workspace, key: string): Promise<boolean> {
  const reader = new ObjectReader(workspace);
  try {
    return await moveOut(workspace, reader, key);
  } finally {
    reader.close();
  }
}

async function moveOut(workspace: Workspace, reader: ObjectReader, key: string): Promise<boolean> {
  const ref = sessionRef(key);
  const before = await readRef(workspace, ref);
  if (before === null) return true;
  const writer = new ObjectWriter(workspace);
  const trees = new TreeStore(reader, writer);
  const old = await oldLayout(trees, before);
  if (!hasOldLayout(old)) return true;
  const directory = conversationDirectory(workspace, key);
  for (const { stream, generation, segments } of old.streams) {
    const earlier: StoredSegment[] = [];
    for (const { offset, id } of segments) earlier.push({ offset, data: await reader.require(id, "blob") });
    const stored = readSegments(directory, stream, generation, Number.POSITIVE_INFINITY);
    rewriteStream(directory, stream, generation, [...earlier, ...stored]);
  }
  await moveRecords(workspace, reader, key, old.records);
  faultPoint("migrate:files");
  const objects = [...old.streams.flatMap(({ segments }) => segments), ...old.records];
  noteOldObjects(
    workspace,
    key,
    objects.map(({ id }) => id),
  );
  faultPoint("migrate:noted");
  const changes = new Map<string, TreeEntry | null>([
    ["transcript", null],
    ["tasks", null],
  ]);
  for (const { path } of old.records) changes.set(path, null);
  const after = await trees.apply(before, changes);
  writer.flush();
  if (!(await compareAndSwapRef(workspace, ref, before, after))) return false;
  await removeReflog(workspace, ref);
  faultPoint("migrate:ref");
  return true;
}

/** Moves records to the second copy of the session's records, sorted by time. */
async function moveRecords(
  workspace: Workspace,
  reader: ObjectReader,
  key: string,
  records: OldLayout["records"],
): Promise<void> {
  const found: Step[] = [];
  for (const { path, id } of records) {
    const step = parseStep(await reader.require(id, "blob"));
    if (step) found.push(step);
    else log("warn", "migration", `The record ${path} of session ${key} can't be read.`);
  }
  const list = recordsFile(workspace, key);
  const known = new Set([...recordsNewestFirst(list)].map(({ id }) => id));
  if (found.every(({ id }) => known.has(id))) return;
  rewriteSessionRecords(workspace, key, (listed) => {
    const here = new Set(listed.map(({ id }) => id));
    return [...listed, ...found.filter(({ id }) => !here.has(id))].sort((a, b) => (a.time < b.time ? -1 : 1));
  });
}

function hasOldLayout({ streams, records }: OldLayout): boolean {
  return streams.length > 0 || records.length > 0;
}

async function oldLayout(trees: TreeStore, root: string): Promise<OldLayout> {
  const streams = ["transcript"];
  for (const task of (await directoryAt(trees, root, "tasks")).keys()) streams.push(`tasks/${task}`);
  const found: OldLayout = { streams: [], records: [] };
  for (const stream of streams) {
    for (const [generation, entry] of await directoryAt(trees, root, stream)) {
      if (entry.mode !== TREE_MODE) continue;
      found.streams.push({ stream, generation: Number(generation), segments: await oldSegments(trees, entry.id) });
    }
  }
  for (const [hour, entry] of await directoryAt(trees, root, "steps"))
    if (entry.mode === TREE_MODE) found.records.push(...(await oldRecords(trees, `steps/${hour}`, entry.id)));
  return found;
}

/** The segments of a generation, which earlier versions stored in groups. */
async function oldSegments(trees: TreeStore, generation: string): Promise<{ offset: number; id: string }[]> {
  const groups = [...(await trees.read(generation)).values()].filter(({ mode }) => mode === TREE_MODE);
  const segments = await Promise.all(groups.map(async ({ id }) => [...(await trees.read(id))]));
  return segments.flat().map(([offset, { id }]) => ({ offset: Number(offset), id }));
}

async function oldRecords(trees: TreeStore, path: string, hour: string): Promise<OldLayout["records"]> {
  const steps = [...(await trees.read(hour))].filter(([, { mode }]) => mode === TREE_MODE);
  const found = await Promise.all(
    steps.map(async ([id, entry]) => ({ id, record: (await trees.read(entry.id)).get(RECORD) })),
  );
  return found.flatMap(({ id, record }) => (record ? [{ path: `${path}/${id}/${RECORD}`, id: record.id }] : []));
}
