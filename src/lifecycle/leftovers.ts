/** What killed processes leave in a store: locks that nobody holds, files that were never renamed. */
import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../base/errors.ts";
import { isAbandoned, tryAcquire } from "../base/lock.ts";
import { logError } from "../base/log.ts";
import { isRunning } from "../base/processes.ts";
import { INDEX_OWNER } from "../git/user-index.ts";
import type { Workspace } from "../git/workspace.ts";

/** Not ours to tidy: hooks, what restores are about, what they kept, what OpenCode's plugin writes. */
const OTHERS: readonly string[] = ["hooks", "replaced-hooks", "restore", "kept", "opencode"];
const DEEPEST = 3;

export interface Leftovers {
  locks: string[];
  files: string[];
}

/** Changes nothing. */
export function leftoversIn(workspace: Workspace): Leftovers {
  const found: Leftovers = { locks: [], files: [] };
  look(workspace.storeDir, 0, found);
  // By it another work tree knows git's lock there for ours: it stays until somebody comes by there.
  found.locks = found.locks.filter((path) => basename(path) !== INDEX_OWNER || dirname(path) === workspace.stateDir);
  // A commit's message, on its way to getting its trailer.
  for (const { name } of entriesOf(workspace.gitDir)) {
    const pid = /^[A-Z_]+MSG\.(\d+)\.[0-9a-z]+\.tmp$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) found.files.push(join(workspace.gitDir, name));
  }
  return found;
}

export function removeLeftovers(workspace: Workspace): void {
  const { locks, files } = leftoversIn(workspace);
  // Taken and released, so that nobody who takes it at this moment loses it.
  for (const lock of locks) tryAcquire(lock)?.release();
  for (const file of files) {
    try {
      rmSync(file, { recursive: true, force: true });
    } catch (error) {
      // A git that outlived us may still write there: the next one removes it.
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
    } else if (entry.isDirectory() && depth < DEEPEST && !OTHERS.includes(entry.name)) look(path, depth + 1, found);
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
