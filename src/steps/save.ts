/**
 * Saving a step, so that a kill at any point loses nothing: objects first, then a journal entry that holds all
 * that is left to do, then ref, list and session state, then the entry goes. Whoever comes next finishes an
 * entry that was left behind, and doing so twice does no harm.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { readJson, removeFile, writeJson } from "../base/files.ts";
import { tryAcquire } from "../base/lock.ts";
import { logError } from "../base/log.ts";
import { isRunning, processStart } from "../base/processes.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import type { Capture, Snapshot } from "../git/snapshot.ts";
import { FILE_MODE, TREE_MODE, type Tree, type TreeEntry, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { appendStep, stepsNewestFirst } from "./index-file.ts";
import type { Step } from "./model.ts";
import {
  type Addition,
  moveSession,
  prepareSession,
  type Segment,
  type SessionChange,
  sessionLock,
  sessionRef,
} from "./session-tree.ts";

export interface SaveRequest {
  key: string;
  step: Step;
  segments: { stream: string; generation: number; offset: number; data: Uint8Array }[];
  /** A small file that must change together with the step (the session's state). */
  alongside: { path: string; revision: number; content: unknown } | null;
}

interface Save {
  key: string;
  step: Step;
  stepTree: string;
  segments: Segment[];
  alongside: SaveRequest["alongside"];
}

/** All that one event saves, in one file: either all of it is promised, or nothing. */
interface Journal {
  v: 1;
  pid: number;
  pidStart: string | null;
  saves: Save[];
}

/** Saves with the processes and objects of a snapshot that has just been taken. */
export async function saveStep(workspace: Workspace, capture: Capture, requests: SaveRequest[]): Promise<void> {
  const last = requests.at(-1);
  if (!last) return;
  const { writer, trees } = capture;
  const saves = requests.map((request) => saveOf(capture, request));
  const journal: Journal = { v: 1, pid: process.pid, pidStart: processStart(process.pid) ?? null, saves };
  // The sessions' trees too before anything is written: all objects then go to disk together.
  const sessions = new Map<string, SessionChange>();
  for (const [key, own] of Map.groupBy(saves, (save) => save.key)) {
    sessions.set(key, await prepareSession(workspace, trees, key, own));
  }
  writer.flush();
  faultPoint("save:objects");
  writeJson(journalFile(workspace, journal), journal);
  faultPoint("save:journal");
  for (const [key, prepared] of sessions) {
    const own = saves.filter((save) => save.key === key);
    await moveSession(workspace, key, prepared, () => storedChange(workspace, trees, writer, key, own));
    faultPoint("save:ref");
  }
  for (const save of saves) settle(workspace, save, true);
  removeFile(journalFile(workspace, journal));
  capture.remember(sessionRef(last.key));
}

/**
 * Finishes what killed processes left behind; the steps that are saved now. The caller may hold one session's lock;
 * what belongs to another one that is busy is left to whoever is busy with it.
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
  const finished: Step[] = [];
  for (const save of journal.saves) {
    if (await isWhole(reader, save)) {
      const again = () => storedChange(workspace, trees, writer, save.key, [{ ...save, late: true }]);
      await moveSession(workspace, save.key, await again(), again);
      settle(workspace, save, false);
      finished.push(save.step);
    } else logError("finishing a save", `The objects of step ${save.step.id} were pruned before it was saved.`);
  }
  removeFile(journalFile(workspace, journal));
  return finished;
}

/** No ref held them: a prune may have come first, and a ref to what is missing would break git itself. */
async function isWhole(reader: ObjectReader, { step, stepTree, segments }: Save): Promise<boolean> {
  const { work, index, raw } = step.snapshot;
  for (const id of [stepTree, work, index, ...(raw ? [raw] : []), ...segments.map((segment) => segment.id)]) {
    if (!(await reader.read(id))) return false;
  }
  return true;
}

/** Saves whose process no longer runs, oldest first. */
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
      if (entry?.v === 1 && entry.saves.length > 0 && !isRunning(entry.pid, entry.pidStart ?? undefined))
        entries.push(entry);
    } catch (error) {
      logError("reading the journal", error);
    }
  }
  return entries.sort((a, b) => timeOf(a).localeCompare(timeOf(b)));
}

function timeOf(journal: Journal): string {
  return journal.saves[0]?.step.time ?? "";
}

/** A session's tree, on disk. */
async function storedChange(
  workspace: Workspace,
  trees: TreeStore,
  writer: ObjectWriter,
  key: string,
  additions: readonly Addition[],
): Promise<SessionChange> {
  const change = await prepareSession(workspace, trees, key, additions);
  writer.flush();
  return change;
}

/** What follows the ref: the list, and the session's state. */
function settle(workspace: Workspace, { step, alongside }: Save, fresh: boolean): void {
  if (fresh || !isListed(workspace, step.id)) appendStep(workspace, step);
  faultPoint("save:listed");
  if (alongside && revisionOf(alongside.path) < alongside.revision) writeJson(alongside.path, alongside.content);
  faultPoint("save:state");
}

function saveOf(capture: Capture, request: SaveRequest): Save {
  const { writer, trees } = capture;
  const segments = request.segments.map(({ stream, generation, offset, data }) => ({
    stream,
    generation,
    offset,
    id: writer.add("blob", data),
  }));
  const { key, step, alongside } = request;
  return { key, step, stepTree: stepTree(trees, writer, step), segments, alongside };
}

/** The tree that holds everything a step needs, so that its session's ref keeps all of it alive. */
function stepTree(trees: TreeStore, writer: ObjectWriter, step: Step): string {
  const { snapshot } = step;
  const tree: Tree = new Map<string, TreeEntry>([
    ["step.json", { mode: FILE_MODE, id: writer.add("blob", Buffer.from(`${JSON.stringify(step)}\n`)) }],
    ["work", { mode: TREE_MODE, id: snapshot.work }],
    ["index", { mode: TREE_MODE, id: snapshot.index }],
  ]);
  if (snapshot.raw) tree.set("raw", { mode: TREE_MODE, id: snapshot.raw });
  const stages: Tree = new Map();
  snapshot.unmerged.forEach(({ stages: entries }, i) => {
    for (const [stage, , id] of entries) stages.set(`${i}.${stage}`, { mode: FILE_MODE, id });
  });
  if (stages.size > 0) tree.set("stages", { mode: TREE_MODE, id: trees.write(stages) });
  return trees.write(tree);
}

/** The part of a git snapshot that a step records. */
export function snapshotOf(snapshot: Snapshot): Step["snapshot"] {
  const { work, index, raw, unmerged, intentToAdd, notCaptured } = snapshot;
  return { work, index, raw, unmerged, intentToAdd, notCaptured };
}

function isListed(workspace: Workspace, id: string): boolean {
  for (const step of stepsNewestFirst(workspace)) if (step.id === id) return true;
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
