/**
 * The journal of a restore: everything that is left to do, on disk before the first file is touched. Who finds one
 * whose process is gone can finish it, or take it back.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../base/errors.ts";
import { namesIn, readJson, writeJson } from "../base/files.ts";
import { acquire, type Lock, tryAcquire } from "../base/lock.ts";
import { logError } from "../base/log.ts";
import type { TreeEntry } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import type { UnmergedEntry } from "../steps/model.ts";
import type { ChatReceipt, FilePlan, HeadMove } from "./model.ts";
import type { RestoreRecord } from "./records.ts";

export interface Journal {
  /** 1 has staged files under their own paths, 2 under their numbers. */
  v: 1 | 2;
  id: string;
  record: RestoreRecord;
  /** The tree that is restored, for files that must be staged again. */
  tree: string;
  /** Trees and exact bytes of the safety steps: a file that one of them holds need not be kept. */
  safety: { work: string; raw: string | null }[];
  /** When the safety step began to look at files. */
  savedAt: number;
  files: FilePlan;
  /** What each file was when the plan was made. */
  marks: Record<string, string>;
  /** Files that may have changed while the safety step was taken, so that it holds an older state of them. */
  late: string[];
  /** Modes to go back to if it can't be finished. */
  modes: Record<string, number>;
  index: IndexPlan | null;
  head: (HeadMove & { message: string }) | null;
  /** The fork's content lies beside the journal. */
  chat: (ChatReceipt & { root: string; written: boolean }) | null;
}

/** Changes to the user's index. */
export interface IndexPlan {
  entries: { path: string; entry: TreeEntry | null }[];
  unmerged: UnmergedEntry[];
  intentToAdd: string[];
}

const LOCK_WAIT_MS = 5_000;

export function restoresDirectory(workspace: Workspace): string {
  return join(workspace.stateDir, "restore");
}

export function restoreDirectory(workspace: Workspace, id: string): string {
  return join(restoresDirectory(workspace), id);
}

export function writeJournal(workspace: Workspace, journal: Journal): void {
  writeJson(journalFile(workspace, journal.id), journal, { sync: true });
}

export function removeRestore(workspace: Workspace, id: string): void {
  // The journal goes first: without it the rest is rubbish, whoever finds it.
  rmSync(journalFile(workspace, id), { force: true });
  rmSync(restoreDirectory(workspace, id), { recursive: true, force: true });
}

/** Journals in this work tree, oldest first. To be called with the lock held: what has no journal is removed. */
export function journals(workspace: Workspace): { found: Journal[]; unreadable: string[] } {
  const found: Journal[] = [];
  const unreadable: string[] = [];
  for (const id of startedRestores(workspace)) {
    const journal = readJournal(workspace, id);
    if (journal) found.push(journal);
    else if (journal === null) unreadable.push(restoreDirectory(workspace, id));
    else removeRestore(workspace, id);
  }
  return { found: found.sort((a, b) => a.savedAt - b.savedAt), unreadable };
}

/** Ids of restores that were begun here. Changes nothing. */
export function startedRestores(workspace: Workspace): string[] {
  return namesIn(restoresDirectory(workspace)).filter((name) => /^[k-z]{12}$/.test(name));
}

/** Only one restore at a time in a work tree. */
export async function lockRestores(workspace: Workspace): Promise<Lock> {
  const lock = await acquire(lockFile(workspace), LOCK_WAIT_MS);
  if (lock) return lock;
  throw new UserError(
    "refused",
    "Another rewind is under way in this work tree.",
    "Wait until it is done, then try again.",
  );
}

export function tryLockRestores(workspace: Workspace): Lock | undefined {
  return tryAcquire(lockFile(workspace));
}

/** Also by a process that is gone. */
export function isLocked(workspace: Workspace): boolean {
  return existsSync(lockFile(workspace));
}

/** undefined where there is none, null where it can't be understood: then it is left for a person to look at. */
function readJournal(workspace: Workspace, id: string): Journal | undefined | null {
  try {
    const journal = readJson(journalFile(workspace, id)) as Journal | undefined;
    if (journal === undefined) return undefined;
    return (journal.v === 1 || journal.v === 2) && journal.id === id ? journal : null;
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
