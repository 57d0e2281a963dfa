/**
 * Determines whether a fork's directory exists and belongs to the fork. All code that deletes files checks here first.
 * If the answer is uncertain, nothing is deleted.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { findWorkspace, type Workspace } from "../../../git/workspace.ts";
import { type OwnedWorktree, workspaceIn } from "../../../git/worktrees/owned.ts";
import type { ForkRecord } from "../../../steps/forks.ts";
import type { ForkNote } from "../../notes.ts";
import { folderOf, forkedFolder } from "../folder.ts";
import { ForkError } from "../problems.ts";
import { worktreeOf } from "../worktree.ts";

export type ForkPresence =
  | { state: "here"; fork: Workspace; marked: boolean }
  /** The fork's directory no longer exists. `notes` report what is left alone. */
  | { state: "gone"; notes: ForkNote[] };

/** Throws if a directory may be the fork's but can't prove it. */
export async function presenceOf(workspace: Workspace, record: ForkRecord): Promise<ForkPresence> {
  if (record.kind === "branch") return { state: "gone", notes: [] };
  return record.kind === "directory" ? folderPresence(workspace, record) : worktreePresence(workspace, record);
}

function worktreePresence(workspace: Workspace, record: ForkRecord): ForkPresence {
  const owned = worktreeOf(workspace, record);
  if (!owned) return { state: "gone", notes: leftAlone(record.directory) };
  const directory = owned.directory ?? record.directory ?? "";
  if (owned.state === "missing") {
    refuseUncertain(workspace, record, owned, directory);
    return { state: "gone", notes: [] };
  }
  const fork = workspaceIn(owned);
  if (fork) return { state: "here", fork, marked: record.marked === true };
  throw new ForkError("refused", { kind: "fork-not-linked", directory, fork: record.name });
}

/** A missing directory may be on an unmounted disk, or may have been moved with the repository. */
function refuseUncertain(workspace: Workspace, record: ForkRecord, owned: OwnedWorktree, directory: string): void {
  const isLocked = lstatSync(join(owned.adminDir, "locked"), { throwIfNoEntry: false }) && !owned.unfinished;
  const { worktree, root } = record.from;
  const wasMoved = worktree === "main" && findWorkspace(root)?.commonDir !== workspace.commonDir;
  if (!isLocked && !wasMoved) return;
  throw new ForkError("refused", {
    kind: "fork-missing",
    directory,
    fork: record.name,
    why: isLocked ? "locked" : "moved",
  });
}

function folderPresence(workspace: Workspace, record: ForkRecord): ForkPresence {
  const folder = folderOf(record);
  if (!folder || folder.state === "missing") return { state: "gone", notes: [] };
  if (folder.state === "replaced") return { state: "gone", notes: leftAlone(folder.directory) };
  const fork = forkedFolder(workspace, record);
  if (fork) return { state: "here", fork, marked: folder.state === "ours" };
  throw new ForkError("refused", { kind: "fork-replaced", directory: folder.directory });
}

function leftAlone(directory: string | null): ForkNote[] {
  if (directory === null || !lstatSync(directory, { throwIfNoEntry: false })) return [];
  return [{ kind: "not-the-fork", directory }];
}
