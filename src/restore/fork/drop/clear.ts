/**
 * Removes a fork whose creation failed or was killed. Deletes only files that its creation wrote; all other files stay.
 * Our refs keep commits and staged changes made there since.
 */
import { rmdirSync } from "node:fs";
import { gitIn } from "../../../git/git.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { isOwnBranch, leadsTo, workspaceIn } from "../../../git/worktrees/owned.ts";
import { type ForkRecord, writeForkRecord } from "../../../steps/forks.ts";
import type { LeftFiles } from "../../notes.ts";
import { copiesIn } from "../../owned/brought.ts";
import { holdCommits, holdIndex, worktreeCommits } from "../../owned/commits.ts";
import { compareContents } from "../../owned/contents.ts";
import { ignoredFiles } from "../../owned/ignored.ts";
import { type Leftovers, newRemoval } from "../../owned/removal.ts";
import { refId } from "../../owned/run-forks.ts";
import { FOLDER_MARK, folderOf, removeEmptyFolder } from "../folder.ts";
import { ownerOf, worktreeOf } from "../worktree.ts";
import { beginRemoval, completeRemoval, type ForkRemoval, writeForkRemoval } from "./removal.ts";

/** Returns the files that stay. */
export async function removeUnfinishedFork(workspace: Workspace, record: ForkRecord): Promise<LeftFiles | null> {
  const directory = ownDirectory(workspace, record);
  const marks = [...(record.kind === "directory" ? [FOLDER_MARK] : []), ...copiesIn(record)];
  const removal =
    directory === null
      ? null
      : newRemoval(directory, record.id, workspace.hash, await madeFiles(workspace, record, directory), marks);
  const { branch, commit } = record;
  const isOwn = branch !== null && commit !== null && (await isOwnBranch(workspace, branch, commit, ownerOf(record)));
  const job: ForkRemoval = { v: 1, removal, kept: [], clean: [], tip: isOwn ? commit : null, step: null };
  await holdWork(workspace, record);
  writeForkRemoval(workspace, record, job);
  writeForkRecord(workspace, { ...record, state: "dropping" });
  if (directory === null) removeEmptyDirectory(workspace, record);
  beginRemoval(workspace, record, job);
  return leftFiles((await completeRemoval(workspace, record, job)).left);
}

/** The branch is not among it: it is deleted only if it has no new commits. */
async function holdWork(workspace: Workspace, record: ForkRecord): Promise<void> {
  const adminDir = worktreeOf(workspace, record)?.adminDir;
  if (adminDir === undefined) return;
  await holdIndex(workspace, refId(record), adminDir);
  await holdCommits(workspace, refId(record), await worktreeCommits(workspace, null, adminDir));
}

/** Null if everything was deleted. */
export function leftFiles(left: Leftovers | null): LeftFiles | null {
  return left && { kind: "files-left", paths: left.paths, directory: left.directory };
}

/** Null if no directory is provably ours. */
export function ownDirectory(workspace: Workspace, record: ForkRecord): string | null {
  const owned = worktreeOf(workspace, record);
  // git may have been killed before it recorded the worktree's location.
  const directory = owned?.directory ?? record.directory;
  if (owned) return directory !== null && leadsTo(directory, owned.adminDir) ? directory : null;
  const folder = folderOf(record);
  return folder?.state === "ours" ? folder.directory : null;
}

/** Files as in the commit or step, and ignored files as in the work tree that the fork was created from. */
async function madeFiles(workspace: Workspace, record: ForkRecord, directory: string): Promise<Map<string, string>> {
  const owned = worktreeOf(workspace, record);
  const fork = owned && workspaceIn(owned);
  const ignored = fork ? (await ignoredFiles(fork, record.from.root)).same : new Map<string, string>();
  const held = new Map(ignored);
  const skip = new Set([FOLDER_MARK, ...ignored.keys()]);
  for (const trees of [record.base, { work: await commitTree(workspace, record.commit), raw: null }])
    for (const [path, id] of (await compareContents(workspace, directory, trees, skip)).held) held.set(path, id);
  return held;
}

async function commitTree(workspace: Workspace, commit: string | null): Promise<string | null> {
  return commit === null ? null : gitIn(workspace).resolve(`${commit}^{tree}`);
}

/** A killed creation may have left an empty directory. Never removes a directory that contains anything. */
function removeEmptyDirectory(workspace: Workspace, record: ForkRecord): void {
  if (record.kind === "directory") removeEmptyFolder(record);
  if (record.directory === null || !worktreeOf(workspace, record)?.unfinished) return;
  try {
    rmdirSync(record.directory);
  } catch {
    // The directory was never created, or contains other files.
  }
}
