/**
 * Saves a step so that a kill at any point loses nothing: writes the conversation and objects, then a journal entry
 * with the remaining work, then the ref, lists and session state, and removes the entry. The next process finishes an
 * abandoned entry; finishing is idempotent.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../base/errors.ts";
import { faultPoint } from "../base/fault-point.ts";
import { readJson, removeFile, writeJson } from "../base/fs/files.ts";
import { tryAcquire } from "../base/fs/lock.ts";
import { logError } from "../base/log.ts";
import { isRunning, processStart } from "../base/process/processes.ts";
import { ObjectReader } from "../git/objects/reader.ts";
import { FILE_MODE, GITLINK_MODE, TREE_MODE, type Tree, type TreeEntry, TreeStore } from "../git/objects/trees.ts";
import { ObjectWriter } from "../git/objects/writer.ts";
import { privatePlace, privateRepository } from "../git/private/store.ts";
import type { Capture, Snapshot } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../model/step.ts";
import { conversationDirectory, recordsFile, type Segment, segmentFile, writeSegment } from "./conversation/files.ts";
import { appendRecord, indexFile, recordsNewestFirst } from "./index-file.ts";
import {
  type Addition,
  moveSession,
  prepareSession,
  type SessionChange,
  sessionLock,
  sessionRef,
} from "./session-tree.ts";

export interface SaveRequest {
  key: string;
  step: Step;
  segments: Segment[];
  /** A small file that must change together with the step: the session's state. */
  alongside: { path: string; revision: number; content: unknown } | null;
}

interface Save {
  key: string;
  step: Step;
  alongside: SaveRequest["alongside"];
  /** Version 1 only: segments stored as objects of the repository. */
  segments?: (Omit<Segment, "data"> & { id: string })[];
}

/** Everything that one event saves, in one file, so that it is saved as a whole or not at all. */
interface Journal {
  v: 1 | 2;
  pid: number;
  pidStart: string | null;
  saves: Save[];
}

/** Saves the steps, reusing the object store access of the capture that took their snapshot. */
export async function saveStep(workspace: Workspace, capture: Capture, requests: SaveRequest[]): Promise<void> {
  const last = requests.at(-1);
  if (!last) return;
  const { writer, trees } = capture;
  for (const { key, segments } of requests) {
    for (const segment of segments) writeSegment(conversationDirectory(workspace, key), segment);
  }
  faultPoint("save:segments");
  const saves = requests.map(({ key, step, alongside }): Save => ({ key, step, alongside }));
  const journal: Journal = { v: 2, pid: process.pid, pidStart: processStart(process.pid) ?? null, saves };
  // Prepare the sessions' trees before writing anything, so that all objects are flushed together.
  const moves: (() => Promise<void>)[] = [];
  for (const [key, own] of Map.groupBy(saves, (save) => save.key)) {
    for (const holder of holdersIn(workspace, trees, writer, capture.privateWriter)) {
      const added = additions(holder, own);
      if (added.length === 0) continue;
      const prepared = await prepareSession(holder.workspace, holder.trees, key, added);
      moves.push(() => move(holder, key, own, prepared));
    }
  }
  writer.flush();
  capture.details.flush();
  faultPoint("save:objects");
  writeJson(journalFile(workspace, journal), journal);
  faultPoint("save:journal");
  for (const moveOne of moves) await moveOne();
  await capture.renewIfPruned();
  for (const save of saves) settle(workspace, save, true);
  removeFile(journalFile(workspace, journal));
  capture.remember(sessionRef(last.key), last.step.snapshot);
}

/**
 * Finishes the saves of killed processes and returns their steps. `held` is the session whose lock the caller holds;
 * saves of other locked sessions are left to the lock's owner.
 */
export async function finishSaves(workspace: Workspace, held: string | null = null): Promise<Step[]> {
  const left = abandonedEntries(workspace);
  if (left.length === 0) return [];
  const reader = new ObjectReader(workspace);
  try {
    const finished: Step[] = [];
    for (const journal of left) {
      const keys = new Set(journal.saves.map((save) => save.key).filter((key) => key !== held));
      const locks = [...keys].map((key) => tryAcquire(sessionLock(workspace, key)));
      try {
        if (locks.every((lock) => lock !== undefined)) finished.push(...(await finish(workspace, reader, journal)));
      } catch (error) {
        logError("finishing a save", error);
      } finally {
        for (const lock of locks) lock?.release();
      }
    }
    return finished;
  } finally {
    reader.close();
  }
}

async function finish(workspace: Workspace, reader: ObjectReader, journal: Journal): Promise<Step[]> {
  const writer = new ObjectWriter(workspace);
  const trees = new TreeStore(reader, writer);
  const holders = holdersIn(workspace, trees, writer, new ObjectWriter(workspace, privatePlace(workspace)));
  const finished: Step[] = [];
  for (const save of journal.saves) {
    if (await isWhole(reader, save)) {
      await adoptSegments(workspace, reader, save);
      for (const holder of holders)
        if (additions(holder, [save]).length > 0)
          await move(holder, save.key, [save], await stored(holder, save.key, [save]));
      settle(workspace, save, false);
      finished.push(save.step);
    } else logError("finishing a save", `The objects of step ${save.step.id} were pruned before it was saved.`);
  }
  removeFile(journalFile(workspace, journal));
  return finished;
}

/** False if git has pruned an object, which no ref protected. A ref to a missing object would break git. */
async function isWhole(reader: ObjectReader, { step, segments = [] }: Save): Promise<boolean> {
  const { work, index, raw, shared, unmerged } = step.snapshot;
  const staged = unmerged.flatMap(({ stages }) => stages.filter(isStored).map(([, , id]) => id));
  const trees = [work, raw, index, shared?.work ?? null, shared?.raw ?? null];
  for (const id of [...trees, ...staged, ...segments.map((segment) => segment.id)]) {
    if (id !== null && !(await reader.read(id))) return false;
  }
  return true;
}

/** Converts segments that an earlier version saved as objects to files. An existing file is newer and longer. */
async function adoptSegments(workspace: Workspace, reader: ObjectReader, { key, segments = [] }: Save): Promise<void> {
  const directory = conversationDirectory(workspace, key);
  for (const segment of segments) {
    if (existsSync(segmentFile(directory, segment))) continue;
    writeSegment(directory, { ...segment, data: await reader.require(segment.id, "blob") });
  }
}

/** Journal entries whose process no longer runs, oldest first. */
export function abandonedEntries(workspace: Workspace): Journal[] {
  let names: string[];
  try {
    names = readdirSync(journalDirectory(workspace));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
  const entries: Journal[] = [];
  for (const name of names) {
    if (!name.endsWith(".json")) continue;
    try {
      const entry = readJson(join(journalDirectory(workspace), name)) as Journal | undefined;
      if (
        (entry?.v === 1 || entry?.v === 2) &&
        entry.saves.length > 0 &&
        !isRunning(entry.pid, entry.pidStart ?? undefined)
      )
        entries.push(entry);
    } catch (error) {
      logError("reading the journal", error);
    }
  }
  return entries.sort((a, b) => timeOf(a).localeCompare(timeOf(b)));
}

/** Removes the abandoned saves of these sessions. */
export function dropFromJournals(workspace: Workspace, keys: ReadonlySet<string>): void {
  for (const journal of abandonedEntries(workspace)) {
    const saves = journal.saves.filter(({ key }) => !keys.has(key));
    if (saves.length === journal.saves.length) continue;
    // The file is named after its first save, which may be one of the remaining saves.
    if (saves.length > 0) writeJson(journalFile(workspace, { ...journal, saves }), { ...journal, saves });
    if (saves[0] !== journal.saves[0]) removeFile(journalFile(workspace, journal));
  }
}

function timeOf(journal: Journal): string {
  return journal.saves[0]?.step.time ?? "";
}

/** A store that holds the trees of sessions, each under a ref of the same name. */
interface Holder {
  workspace: Workspace;
  trees: TreeStore;
  writer: ObjectWriter;
  /** The tree to store for a step; null if this holder stores nothing of the step. */
  treeOf(trees: TreeStore, step: Step): string | null;
  point: string;
}

/** The private store, for steps with files that other users may not read, then the repository. */
function holdersIn(
  workspace: Workspace,
  trees: TreeStore,
  writer: ObjectWriter,
  privateWriter: ObjectWriter,
): readonly Holder[] {
  const own = { workspace: privateRepository(workspace), trees: trees.writingTo(privateWriter), writer: privateWriter };
  return [
    { ...own, treeOf: privateTree, point: "save:private" },
    { workspace, trees, writer, treeOf: sharedTree, point: "save:ref" },
  ];
}

function additions({ trees, treeOf }: Holder, saves: readonly Save[]): Addition[] {
  return saves.flatMap(({ step }) => {
    const tree = treeOf(trees, step);
    return tree === null ? [] : [{ step, stepTree: tree }];
  });
}

async function move(holder: Holder, key: string, saves: readonly Save[], prepared: SessionChange): Promise<void> {
  await moveSession(holder.workspace, key, prepared, () => stored(holder, key, saves));
  faultPoint(holder.point);
}

/** Prepares the session's tree and flushes it to disk. */
async function stored(holder: Holder, key: string, saves: readonly Save[]): Promise<SessionChange> {
  const change = await prepareSession(holder.workspace, holder.trees, key, additions(holder, saves));
  holder.writer.flush();
  return change;
}

/** Updates both lists and the session's state, after the ref. */
function settle(workspace: Workspace, { key, step, alongside }: Save, fresh: boolean): void {
  for (const [list, point] of [
    [recordsFile(workspace, key), "save:copied"],
    [indexFile(workspace), "save:listed"],
  ] as const) {
    if (fresh || !isListed(list, step.id)) appendRecord(list, step);
    faultPoint(point);
  }
  if (alongside && revisionOf(alongside.path) < alongside.revision) writeJson(alongside.path, alongside.content);
  faultPoint("save:state");
}

/** The tree with a step's code; the session's ref keeps all of its objects alive. */
function sharedTree(trees: TreeStore, { snapshot }: Step): string {
  const tree = stateTree(snapshot.shared ?? snapshot);
  tree.set("index", { mode: TREE_MODE, id: snapshot.index });
  const stages: Tree = new Map();
  snapshot.unmerged.forEach(({ stages: entries }, i) => {
    for (const [stage, , id] of entries.filter(isStored)) stages.set(`${i}.${stage}`, { mode: FILE_MODE, id });
  });
  if (stages.size > 0) tree.set("stages", { mode: TREE_MODE, id: trees.write(stages) });
  return trees.write(tree);
}

/** The complete state, if the repository holds only a part of it. */
function privateTree(trees: TreeStore, { snapshot }: Step): string | null {
  return snapshot.shared ? trees.write(stateTree(snapshot)) : null;
}

function stateTree({ work, raw }: Pick<Step["snapshot"], "work" | "raw">): Tree {
  const tree: Tree = new Map<string, TreeEntry>([["work", { mode: TREE_MODE, id: work }]]);
  if (raw) tree.set("raw", { mode: TREE_MODE, id: raw });
  return tree;
}

/** False for a submodule, whose commit is in the submodule's own repository. */
function isStored([, mode]: [number, string, string]): boolean {
  return mode !== GITLINK_MODE;
}

/** The part of a git snapshot that a step records. */
export function snapshotOf(snapshot: Snapshot): Step["snapshot"] {
  const { head, branch, ...recorded } = snapshot;
  return recorded;
}

function isListed(list: string, id: string): boolean {
  for (const step of recordsNewestFirst(list)) if (step.id === id) return true;
  return false;
}

function revisionOf(path: string): number {
  try {
    const state = readJson(path);
    if (typeof state !== "object" || state === null || !("revision" in state)) return -1;
    return typeof state.revision === "number" ? state.revision : -1;
  } catch {
    return -1;
  }
}

function journalDirectory(workspace: Workspace): string {
  return join(workspace.storeDir, "journal");
}

function journalFile(workspace: Workspace, { saves }: Journal): string {
  return join(journalDirectory(workspace), `${saves[0]?.step.id}.json`);
}
