/**
 * trials/<id>.json: records a throwaway directory and its owner before the directory is created. If the owner dies,
 * the next process kills what still runs in the directory and deletes it, if the mark in it proves that it is ours.
 */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { namesIn, readJson, removeFile, writeJson } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import { processIn } from "../../base/process/cwd.ts";
import { isRunning, processStart, signalGroup } from "../../base/process/processes.ts";
import type { Workspace } from "../../git/workspace.ts";
import { createMark, isMarked, removeUnmarked } from "../../restore/owned/mark.ts";
import {
  finishRemoval,
  isRemoval,
  newRemoval,
  type Removal,
  removalState,
  setAside,
} from "../../restore/owned/removal.ts";

export interface TrialRecord {
  v: 1;
  id: string;
  directory: string;
  pid: number;
  pidStart: string | null;
  /** The command running in the directory, which leads its own process group. */
  child: { pid: number; start: string | null } | null;
  /** Set while the directory is being deleted. */
  removal?: Removal;
}

const MARK = ".backtrail-trial";

export function newRecord(id: string): TrialRecord {
  const directory = join(tmpdir(), directoryName(id));
  return { v: 1, id, directory, pid: process.pid, pidStart: processStart(process.pid) ?? null, child: null };
}

export function writeRecord(workspace: Workspace, record: TrialRecord): void {
  writeJson(recordFile(workspace, record.id), record);
}

/** Fails if the path exists. */
export function makeTrialDirectory({ directory, id }: TrialRecord): void {
  mkdirSync(directory, { mode: 0o700 });
  createMark(directory, MARK, id);
}

/** Deletes the directory before the record: after a kill in between, the record is still accurate. */
export function discard(workspace: Workspace, record: TrialRecord): void {
  if (removeDirectory(workspace, record)) removeFile(recordFile(workspace, record.id));
}

/** The directory contains no user's work. False if something is left because a process still writes there. */
function removeDirectory(workspace: Workspace, record: TrialRecord): boolean {
  const { directory, id } = record;
  const isOurs = isMarked(directory, MARK, id);
  if (isOurs && !record.removal) {
    record.removal = newRemoval(directory, id, workspace.hash, new Map(), [""]);
    writeRecord(workspace, record);
  }
  const { removal } = record;
  if (!removal) {
    removeUnmarked(directory, MARK, id);
    return true;
  }
  if (isOurs && removalState(removal) === "waiting") setAside(removal, () => writeRecord(workspace, record));
  return finishRemoval(removal) === null;
}

/** Returns the number of directories removed. */
export function removeAbandonedTrials(workspace: Workspace): number {
  let removed = 0;
  for (const name of namesIn(trialsDirectory(workspace))) {
    const id = /^([k-z]{12})\.json$/.exec(name)?.[1];
    if (id === undefined) continue;
    try {
      const record = readJson(recordFile(workspace, id)) as TrialRecord | undefined;
      if (!record || !isSound(record, id) || isRunning(record.pid, record.pidStart ?? undefined)) continue;
      endGroup(record.child);
      // A git process that outlived its parent would recreate the directory.
      if (processIn(record.directory) !== undefined) continue;
      discard(workspace, record);
      removed++;
    } catch (error) {
      logError("removing a throwaway directory", error);
    }
  }
  return removed;
}

/** Process ids are reused: without a start time the owner is unknown, so the process is left alone. */
function endGroup(child: TrialRecord["child"]): void {
  if (!child || child.start === null || !isRunning(child.pid, child.start)) return;
  signalGroup(child.pid, "SIGKILL");
}

/** Validates a record: only a directory with its assigned name may be deleted. */
function isSound({ v, id, directory, removal }: TrialRecord, name: string): boolean {
  if (v !== 1 || id !== name || typeof directory !== "string" || basename(directory) !== directoryName(id))
    return false;
  return removal === undefined || (isRemoval(removal, id) && removal.directory === directory);
}

function directoryName(id: string): string {
  return `backtrail-${id}`;
}

function recordFile(workspace: Workspace, id: string): string {
  return join(trialsDirectory(workspace), `${id}.json`);
}

function trialsDirectory(workspace: Workspace): string {
  return join(workspace.stateDir, "trials");
}
