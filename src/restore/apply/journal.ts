/**
 * The journal of a restore: everything left to do, written to disk before the first file is touched. If the process
 * dies, the next one completes the journal or rolls it back.
 */

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { namesIn, readJson, writeJson } from "../../base/fs/files.ts";
import { acquire, type Lock, tryAcquire } from "../../base/fs/lock.ts";
import { logError } from "../../base/log.ts";
import type { IndexEntry } from "../../git/index/entries.ts";
import type { TreeEntry } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { UnmergedEntry } from "../../model/step.ts";
import { RestoreError } from "../problems.ts";
import type { ChatReceipt, FilePlan, HeadMove } from "../types.ts";
import type { Held } from "./held.ts";
import type { RestoreRecord } from "./restore-log.ts";

export interface Journal {
  /** Version 1 stages files under their own paths, later versions under numbers. Version 3 records the held content. */
  v: 1 | 2 | 3;
  id: string;
  record: RestoreRecord;
  /** The tree to restore, in case files must be staged again. */
  tree: string;
  /** The safety steps. `held` maps paths to the content each step can restore; only that content may be deleted. */
  safety: { work: string; raw: string | null; held?: Held }[];
  /** When the safety step's snapshot began, in milliseconds. */
  savedAt: number;
  files: FilePlan;
  /** The content id of each file to write, as staged. */
  placed?: string[];
  /** Modes to restore on rollback, by path; directories end in a slash. */
  modes: Record<string, number>;
  /** The reason for a rollback; only cleanup is left to do. */
  rolledBack?: string;
  /** The notice for sessions open in this work tree and for the session `to`, and the sessions it quotes, by key. */
  notice?: { text: string; quotes: string[]; to?: string };
  index: IndexPlan | null;
  head: (HeadMove & { message: string }) | null;
  /** The fork's content is staged next to the journal. */
  chat: (ChatReceipt & { root: string; written: boolean }) | null;
}

/** Changes to the user's index, applied only to entries that still match `seen`. */
export interface IndexPlan {
  /** The changes apply only while HEAD is at this commit. */
  commit?: string | null;
  /** Index entries by path, as of the plan. */
  seen?: Record<string, IndexEntry[]>;
  entries: { path: string; entry: TreeEntry | null }[];
  unmerged: UnmergedEntry[];
  intentToAdd: string[];
}

const LOCK_WAIT_MS = 5_000;

function restoresDirectory(workspace: Workspace): string {
  return join(workspace.stateDir, "restore");
}

export function restoreDirectory(workspace: Workspace, id: string): string {
  return join(restoresDirectory(workspace), id);
}

export function writeJournal(workspace: Workspace, journal: Journal): void {
  writeJson(journalFile(workspace, journal.id), journal, { sync: true });
}

/** Deletes a restore's directory. Throws if it still holds files of the user. */
export function removeRestore(workspace: Workspace, id: string): void {
  if (holdsReplaced(workspace, id)) throw new Error(`${restoreDirectory(workspace, id)} still holds replaced files.`);
  // The journal is deleted first: without it, any process may delete the rest.
  rmSync(journalFile(workspace, id), { force: true });
  rmSync(restoreDirectory(workspace, id), { recursive: true, force: true });
}

/** True if the directory still holds files that were moved aside. */
function holdsReplaced(workspace: Workspace, id: string): boolean {
  return namesIn(join(restoreDirectory(workspace, id), "old")).length > 0;
}

/** Journals of this work tree, oldest first. Requires the lock: deletes restores without a journal. */
export function journals(workspace: Workspace): { found: Journal[]; unreadable: string[] } {
  const found: Journal[] = [];
  const unreadable: string[] = [];
  for (const id of startedRestores(workspace)) {
    const journal = readJournal(workspace, id);
    if (journal) found.push(journal);
    else if (journal === null || holdsReplaced(workspace, id)) unreadable.push(restoreDirectory(workspace, id));
    else removeRestore(workspace, id);
  }
  return { found: found.sort((a, b) => a.savedAt - b.savedAt), unreadable };
}

/** Ids of restores with a directory here. Read-only. */
export function startedRestores(workspace: Workspace): string[] {
  return namesIn(restoresDirectory(workspace)).filter((name) => /^[k-z]{12}$/.test(name));
}

/** Whether a restore is running, or was left unfinished by a killed process. Read-only. */
export function isRestoring(workspace: Workspace): boolean {
  return startedRestores(workspace).length > 0 || isLocked(workspace);
}

/** Allows one restore at a time per work tree. */
export async function lockRestores(workspace: Workspace): Promise<Lock> {
  const lock = await acquire(lockFile(workspace), LOCK_WAIT_MS);
  if (lock) return lock;
  throw new RestoreError("refused", { kind: "restore-running" });
}

export function tryLockRestores(workspace: Workspace): Lock | undefined {
  return tryAcquire(lockFile(workspace));
}

/** True even if the process that held the lock is dead. */
export function isLocked(workspace: Workspace): boolean {
  return existsSync(lockFile(workspace));
}

/** Undefined if there is no journal; null if it is unreadable, in which case it is left for the user to inspect. */
function readJournal(workspace: Workspace, id: string): Journal | undefined | null {
  try {
    const journal = readJson(journalFile(workspace, id)) as Journal | undefined;
    if (journal === undefined) return undefined;
    return [1, 2, 3].includes(journal.v) && journal.id === id ? journal : null;
  } catch (error) {
    logError(`restore ${id}`, error);
    return null;
  }
}

function journalFile(workspace: Workspace, id: string): string {
  return join(restoreDirectory(workspace, id), "journal.json");
}

function lockFile(workspace: Workspace): string {
  return join(workspace.stateDir, "restore.lock");
}
