/** Finds a fork's git worktree by its mark, and manages its branch. */

import { lstatSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { namesIn, readText, removeFile } from "../../base/fs/files.ts";
import { processIn } from "../../base/process/cwd.ts";
import { gitIn } from "../../git/git.ts";
import { compareAndSwapRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import {
  addOwnedWorktree,
  findOwned,
  findUnmarked,
  type OwnedWorktree,
  type Owner,
  workspaceIn,
} from "../../git/worktrees/owned.ts";
import type { ForkRecord } from "../../steps/forks.ts";
import { ForkError } from "./problems.ts";

const STILL_MADE_MS = 3_000;

export function ownerOf({ id, run }: Pick<ForkRecord, "id" | "run">): Owner {
  return { kind: run ? "run" : "fork", id };
}

export async function addWorktree(workspace: Workspace, record: ForkRecord): Promise<void> {
  const { directory, branch, commit } = record;
  if (directory === null || branch === null) return;
  const refused = await addOwnedWorktree(workspace, { directory, branch, commit }, ownerOf(record));
  if (refused === null) return;
  const kind = FILTER_FAILED.test(refused) ? "fork-filter-failed" : "fork-not-made";
  throw new ForkError("failed", { kind, directory, reason: refused });
}

const FILTER_FAILED = /: smudge filter .* failed$/;

/** git's record of the fork's worktree. Forks older than marks are found by name. */
export function worktreeOf(workspace: Workspace, record: ForkRecord): OwnedWorktree | undefined {
  if (record.kind !== "worktree") return undefined;
  const owned = findOwned(workspace, ownerOf(record));
  if (owned || record.marked || record.worktree === null) return owned;
  return findUnmarked(workspace, record.worktree);
}

/** Waits for a git process that outlived ours and is still creating the worktree. False on timeout. */
export async function untilMade(workspace: Workspace, record: ForkRecord): Promise<boolean> {
  const deadline = performance.now() + STILL_MADE_MS;
  for (;;) {
    const owned = worktreeOf(workspace, record);
    if (!owned?.unfinished) return true;
    const isLocked = owned.directory === null || exists(join(owned.adminDir, "index.lock"));
    const isBusy = owned.directory !== null && processIn(owned.directory) !== undefined;
    if (!isLocked && !isBusy) return true;
    if (performance.now() > deadline) return !isBusy;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The work tree, if it is complete and at the location that git records. */
export function forkedWorktree(workspace: Workspace, record: ForkRecord): Workspace | undefined {
  const owned = worktreeOf(workspace, record);
  return owned && !owned.unfinished ? workspaceIn(owned) : undefined;
}

/** The current directory: the user may have run `git worktree move`. */
export function placeOf(workspace: Workspace, record: ForkRecord): string | null {
  return worktreeOf(workspace, record)?.directory ?? record.directory;
}

/** Deletes a branch only if it is still at `at`, so that no new commit is lost, and no work tree uses it. */
export async function removeBranch(workspace: Workspace, branch: string, at: string): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  if (isCheckedOut(workspace, ref)) return false;
  // A killed git process of ours may have left the lock of the branch, which this waits for.
  if (!(await compareAndSwapRef(workspace, ref, at, null))) return false;
  removeFile(join(workspace.commonDir, "logs", ref));
  await removeSettings(workspace, branch);
  return true;
}

/** True if any work tree of the repository has the branch checked out. */
function isCheckedOut({ commonDir }: Workspace, ref: string): boolean {
  const worktrees = namesIn(join(commonDir, "worktrees")).map((name) => join(commonDir, "worktrees", name));
  return [commonDir, ...worktrees].some((gitDir) => readText(join(gitDir, "HEAD"))?.trim() === `ref: ${ref}`);
}

/** Checks first whether there are settings, because git locks its configuration to look for them. */
async function removeSettings(workspace: Workspace, branch: string): Promise<void> {
  const git = gitIn(workspace);
  const { stdout } = await git.try(["config", "--local", "--name-only", "-z", "--list"]);
  const has = stdout
    .toString("utf8")
    .split("\0")
    .some((name) => name.startsWith(`branch.${branch}.`));
  if (has) await git.try(["config", "--remove-section", `branch.${branch}`]);
}

export function branchTip(workspace: Workspace, branch: string): Promise<string | null> {
  return gitIn(workspace).resolve(`refs/heads/${branch}^{commit}`);
}

/** Deletes `<repository>.forks` (or `.runs`) with its last entry. A directory chosen by the user stays. */
export function removeEmptyHome(directory: string): void {
  if (!/\.(?:forks|runs)$/.test(directory)) return;
  try {
    rmdirSync(directory);
  } catch {
    // The directory is not empty, or does not exist.
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
