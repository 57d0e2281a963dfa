/**
 * Changes the user's index atomically: git edits a copy under git's own lock, and a rename replaces the index. A kill
 * leaves the old or the new index. git's lock is a hard link to our own lock file, which names its owner, so the next
 * process can remove an abandoned one.
 */
import { chmodSync, constants, copyFileSync, linkSync, lstatSync, renameSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { makeDirectory, removeFile } from "../../base/fs/files.ts";
import { isAbandoned, tryAcquire } from "../../base/fs/lock.ts";
import type { Workspace } from "../workspace.ts";

/**
 * `change` runs git with this environment; if it returns false, the index stays unchanged. "locked": another process
 * holds the lock.
 */
export async function changeUserIndex(
  workspace: Workspace,
  change: (env: { GIT_INDEX_FILE: string }) => Promise<boolean>,
): Promise<"done" | "refused" | "locked"> {
  releaseUserIndex(workspace);
  makeDirectory(workspace.stateDir);
  const own = tryAcquire(ownLock(workspace));
  if (!own) return "locked";
  // Named after this process: a git started by a killed process may still write to its own copy.
  const [index, copy] = [join(workspace.gitDir, "index"), join(workspace.stateDir, `staging.${process.pid}.tmp`)];
  try {
    if (!take(workspace)) return "locked";
    faultPoint("index:locked");
    try {
      const mode = copyOf(index, copy);
      if (!(await change({ GIT_INDEX_FILE: copy }))) return "refused";
      if (mode !== undefined) chmodSync(copy, mode);
      faultPoint("index:changed");
      if (lstatSync(copy, { throwIfNoEntry: false })) renameSync(copy, index);
      return "done";
    } finally {
      removeFile(copy);
      removeFile(`${copy}.lock`);
      removeFile(gitLock(workspace));
    }
  } finally {
    own.release();
  }
}

/** Removes git's lock if a killed Backtrail process left it. */
export function releaseUserIndex(workspace: Workspace): void {
  if (!isAbandoned(ownLock(workspace))) return;
  const [ours, gits] = [ownLock(workspace), gitLock(workspace)].map((path) =>
    lstatSync(path, { throwIfNoEntry: false }),
  );
  if (ours && gits && ours.ino === gits.ino && ours.dev === gits.dev) removeFile(gitLock(workspace));
  tryAcquire(ownLock(workspace))?.release();
}

/** Returns false if another process holds git's lock. */
function take(workspace: Workspace): boolean {
  try {
    linkSync(ownLock(workspace), gitLock(workspace));
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Copies the index and returns its mode; undefined if there is no index yet, which git treats as empty. */
function copyOf(index: string, copy: string): number | undefined {
  removeFile(copy);
  const before = statSync(index, { throwIfNoEntry: false });
  if (!before) return undefined;
  copyFileSync(index, copy, constants.COPYFILE_FICLONE);
  // git trusts a file's recorded time only if it is older than the index; rounding down makes git trust less.
  utimesSync(copy, before.atime, Math.floor(before.mtimeMs) / 1000);
  return before.mode & 0o777;
}

/** The file that names the owner of git's lock. */
export const INDEX_OWNER = "staging.lock";

function ownLock({ stateDir }: Workspace): string {
  return join(stateDir, INDEX_OWNER);
}

function gitLock({ gitDir }: Workspace): string {
  return join(gitDir, "index.lock");
}
