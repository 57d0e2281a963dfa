/**
 * The user's index, changed in one move: by git on a copy, under git's own lock, then put in its place. Killed anywhere, the
 * index is the old or the new one, and the lock is known as ours (it is another name of a file of ours that says who made it),
 * so that whoever comes next can take it away.
 */
import { chmodSync, constants, copyFileSync, linkSync, lstatSync, renameSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { makeDirectory, removeFile } from "../base/files.ts";
import { isAbandoned, tryAcquire } from "../base/lock.ts";
import type { Workspace } from "./workspace.ts";

/** `change` runs git with this environment; false from it leaves the index as it is. "locked": somebody else holds it. */
export async function changeUserIndex(
  workspace: Workspace,
  change: (env: { GIT_INDEX_FILE: string }) => Promise<boolean>,
): Promise<"done" | "refused" | "locked"> {
  releaseUserIndex(workspace);
  makeDirectory(workspace.stateDir);
  const own = tryAcquire(ownLock(workspace));
  if (!own) return "locked";
  // Of this process alone: a git that a killed one has started may still be writing to its own.
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

/** Takes away a lock of git's that a killed process of ours left. */
export function releaseUserIndex(workspace: Workspace): void {
  if (!isAbandoned(ownLock(workspace))) return;
  const [ours, gits] = [ownLock(workspace), gitLock(workspace)].map((path) =>
    lstatSync(path, { throwIfNoEntry: false }),
  );
  if (ours && gits && ours.ino === gits.ino && ours.dev === gits.dev) removeFile(gitLock(workspace));
  tryAcquire(ownLock(workspace))?.release();
}

/** False where somebody else holds git's lock. */
function take(workspace: Workspace): boolean {
  try {
    linkSync(ownLock(workspace), gitLock(workspace));
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Its mode; undefined where there is no index yet, which git takes for an empty one. */
function copyOf(index: string, copy: string): number | undefined {
  removeFile(copy);
  const before = statSync(index, { throwIfNoEntry: false });
  if (!before) return undefined;
  copyFileSync(index, copy, constants.COPYFILE_FICLONE);
  // git trusts a file's recorded time only if it is older than the index; rounded down, it trusts less.
  utimesSync(copy, before.atime, Math.floor(before.mtimeMs) / 1000);
  return before.mode & 0o777;
}

/** The file that says whose git's lock is. */
export const INDEX_OWNER = "staging.lock";

function ownLock({ stateDir }: Workspace): string {
  return join(stateDir, INDEX_OWNER);
}

function gitLock({ gitDir }: Workspace): string {
  return join(gitDir, "index.lock");
}
