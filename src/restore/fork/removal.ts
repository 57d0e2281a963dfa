/**
 * Taking a fork's directory and branch away. The directory is first given another name, so that after a kill the rest of
 * it is known for what it is, and never for a work tree in which files are missing.
 */
import { existsSync, lstatSync, realpathSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { faultPoint } from "../../base/fault.ts";
import { namesIn, readText } from "../../base/files.ts";
import { gitLocation } from "../../git/location.ts";
import { tryGit } from "../../git/run.ts";
import { privateStorePath, type Workspace } from "../../git/workspace.ts";
import { type ForkRecord, removeForkRecord } from "../../steps/forks.ts";
import { placeOf, removeBranch, removeEmptyHome } from "./worktree.ts";

/** Everything in it goes: the caller has made sure that nothing is lost. `tip` is where its branch may be deleted. */
export async function removeFork(workspace: Workspace, record: ForkRecord, tip: string | null): Promise<void> {
  const directory = placeOf(workspace, record);
  if (directory !== null) {
    const link = privateStorePath(realPlace(directory));
    removeDirectory(directory, record.id);
    faultPoint("fork:removed");
    if (record.kind === "worktree") await forgetWorktree(workspace, directory, record.worktree);
    else rmSync(link, { recursive: true, force: true });
    removeEmptyHome(dirname(directory));
  }
  if (record.branch !== null && tip !== null) await removeBranch(workspace, record.branch, tip);
  faultPoint("fork:unbranched");
  removeForkRecord(workspace, record.id);
}

/** Also of a directory that is gone. */
function realPlace(directory: string): string {
  const above = dirname(directory);
  return existsSync(above) ? join(realpathSync(above), basename(directory)) : directory;
}

/** What it is called while it is taken away. */
export function goingPlace(directory: string, id: string): string {
  return join(dirname(directory), `.${basename(directory)}.${id}`);
}

export function removeDirectory(directory: string, id: string): void {
  const going = goingPlace(directory, id);
  if (lstatSync(directory, { throwIfNoEntry: false }) && !lstatSync(going, { throwIfNoEntry: false })) {
    renameSync(directory, going);
  }
  faultPoint("fork:renamed");
  rmSync(going, { recursive: true, force: true });
}

/** What git knows of it; other worktrees that are missing for the moment are left alone. */
export async function forgetWorktree(workspace: Workspace, directory: string, name?: string | null): Promise<void> {
  const { args, cwd } = gitLocation(workspace);
  const { code } = await tryGit([...args, "worktree", "remove", "--force", "--force", directory], { cwd });
  if (code !== 0) removeHalf(workspace, directory, name);
}

/** A git that was killed as it made or removed the worktree left half of what it knows of it, on which every other git may stumble. */
function removeHalf({ commonDir }: Workspace, directory: string, known?: string | null): void {
  const place = join(commonDir, "worktrees");
  for (const name of namesIn(place)) {
    const half = join(place, name);
    const gitdir = readText(join(half, "gitdir"))?.trim();
    const isHalf = name === known || isBegun(half, name, directory);
    if (gitdir === join(directory, ".git") || (!gitdir && isHalf)) rmSync(half, { recursive: true, force: true });
  }
}

/** git calls it by its directory, with a number where there is one already. */
function isBegun(half: string, name: string, directory: string): boolean {
  const called = basename(directory);
  if (!name.startsWith(called) || !/^\d*$/.test(name.slice(called.length))) return false;
  return readText(join(half, "locked"))?.trim() === "initializing" || namesIn(half).length === 0;
}
