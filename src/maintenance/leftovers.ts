/** Finds and deletes leftovers of killed processes in a store: abandoned locks and temporary files. */

import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { STORE_FOLDERS } from "../agents/registry/packaged.ts";
import { codeOf } from "../base/errors.ts";
import { isAbandoned, tryAcquire } from "../base/fs/lock.ts";
import { logError } from "../base/log.ts";
import { isRunning } from "../base/process/processes.ts";
import { INDEX_OWNER } from "../git/index/user-index.ts";
import type { Workspace } from "../git/workspace.ts";

/** Directories to skip: hooks, restores and their kept files, transcripts of plugins, a repository. */
const OTHERS: readonly string[] = ["hooks", "replaced-hooks", "restore", "kept", "private.git", ...STORE_FOLDERS];
/** Directories with one subdirectory per session; temporary files are next to these subdirectories. */
const BY_SESSION: readonly string[] = ["conversations", "imported"];
const MAX_DEPTH = 3;

export interface Leftovers {
  locks: string[];
  files: string[];
}

/** Changes nothing. */
export function leftoversIn(workspace: Workspace): Leftovers {
  const found: Leftovers = { locks: [], files: [] };
  look(workspace.storeDir, 0, found);
  // This file marks git's index lock in another work tree as ours: leave it to the next process that runs there.
  found.locks = found.locks.filter((path) => basename(path) !== INDEX_OWNER || dirname(path) === workspace.stateDir);
  // Temporary files of commit messages that were about to get a trailer.
  for (const { name } of entriesOf(workspace.gitDir)) {
    const pid = /^[A-Z_]+MSG\.(\d+)\.[0-9a-z]+\.tmp$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) found.files.push(join(workspace.gitDir, name));
  }
  return found;
}

export function removeLeftovers(workspace: Workspace): void {
  const { locks, files } = leftoversIn(workspace);
  // Acquire and release each lock, so that a process that acquires it now does not lose it.
  for (const lock of locks) tryAcquire(lock)?.release();
  for (const file of files) {
    try {
      rmSync(file, { recursive: true, force: true });
    } catch (error) {
      // A git process that is still running may write there: the next run deletes the file.
      logError("leftovers", error);
    }
  }
}

function look(directory: string, depth: number, found: Leftovers): void {
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    const owner = /\.(\d+)\.(?:[0-9a-z]+\.)?tmp(?:\.lock)?$|^convert\.(\d+)(?:\.|$)/.exec(entry.name);
    const pid = owner?.[1] ?? owner?.[2];
    if (pid !== undefined) {
      if (!isRunning(Number(pid))) found.files.push(path);
    } else if (/(?:^|\.)lock$/.test(entry.name)) {
      if (isAbandoned(path)) found.locks.push(path);
    } else if (entry.isDirectory() && depth < MAX_DEPTH && !OTHERS.includes(entry.name))
      look(path, BY_SESSION.includes(entry.name) ? MAX_DEPTH : depth + 1, found);
  }
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}
