/**
 * trials/<id>.json: a throwaway directory that exists, and who made it, on disk before the directory is. Whoever finds
 * one whose process is gone ends what still runs in it and removes it.
 */
import { lstatSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { namesIn, readJson, removeFile, writeJson } from "../../base/files.ts";
import { logError } from "../../base/log.ts";
import { isRunning, processStart } from "../../base/processes.ts";
import type { Workspace } from "../../git/workspace.ts";
import { removeTree } from "./removal.ts";

export interface TrialRecord {
  v: 1;
  id: string;
  directory: string;
  pid: number;
  pidStart: string | null;
  /** The command that runs in it, which leads a process group of its own. */
  child: { pid: number; start: string | null } | null;
}

export function newRecord(id: string): TrialRecord {
  const directory = join(tmpdir(), directoryName(id));
  return { v: 1, id, directory, pid: process.pid, pidStart: processStart(process.pid) ?? null, child: null };
}

export function writeRecord(workspace: Workspace, record: TrialRecord): void {
  writeJson(recordFile(workspace, record.id), record);
}

/** The directory, then the record: a kill in between leaves a record that says nothing wrong. */
export function discard(workspace: Workspace, record: TrialRecord): void {
  removeTree(record.directory);
  removeFile(recordFile(workspace, record.id));
}

/** How many there were. */
export function removeAbandonedTrials(workspace: Workspace): number {
  let removed = 0;
  for (const name of namesIn(trialsDirectory(workspace))) {
    const id = /^([k-z]{12})\.json$/.exec(name)?.[1];
    if (id === undefined) continue;
    try {
      const record = readJson(recordFile(workspace, id)) as TrialRecord | undefined;
      if (!record || !isOurs(record, id) || isRunning(record.pid, record.pidStart ?? undefined)) continue;
      endGroup(record.child);
      discard(workspace, record);
      removed++;
    } catch (error) {
      logError("removing a throwaway directory", error);
    }
  }
  return removed;
}

/** A process id comes back: without its start time nobody can say whose it is now, so it is left alone. */
function endGroup(child: TrialRecord["child"]): void {
  if (!child || child.start === null || !isRunning(child.pid, child.start)) return;
  killGroup(child.pid, "SIGKILL");
}

/** Every process of a group that is still there. */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH" && codeOf(error) !== "EPERM") throw error;
  }
}

/** What is removed is removed whole: only a directory of the name that was given to it. */
function isOurs({ v, directory }: TrialRecord, id: string): boolean {
  if (v !== 1 || typeof directory !== "string" || basename(directory) !== directoryName(id)) return false;
  const stat = lstatSync(directory, { throwIfNoEntry: false });
  return stat === undefined || stat.isDirectory();
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
