/**
 * The final phase of dropping a fork, starting with the rename of its directory. A file next to the fork's record
 * holds its whole input, so that the next command can continue after a kill.
 */

import { lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { forgetInstalled } from "../../../agents/hooks/install.ts";
import { getAgent } from "../../../agents/registry/registry.ts";
import { now } from "../../../base/clock.ts";
import { hexDigest } from "../../../base/digest.ts";
import { messageOf } from "../../../base/errors.ts";
import { faultPoint } from "../../../base/fault-point.ts";
import { readJson, writeJson } from "../../../base/fs/files.ts";
import { onDisk } from "../../../base/fs/path-bytes.ts";
import { logError } from "../../../base/log.ts";
import { readStore, type Workspace } from "../../../git/workspace.ts";
import { type OwnedWorktree, removeAdminDir } from "../../../git/worktrees/owned.ts";
import { type ForkRecord, forkDirectory, removeForkRecord } from "../../../steps/forks.ts";
import { appendOperation } from "../../operations/records.ts";
import { releaseBrought } from "../../owned/brought.ts";
import { holdIndex } from "../../owned/commits.ts";
import { finishRemoval, isRemoval, type Leftovers, type Removal, setAside } from "../../owned/removal.ts";
import {
  type KeptRepository,
  keptRepositories,
  moveRepositories,
  nestedRepositories,
} from "../../owned/repositories.ts";
import { refId } from "../../owned/run-forks.ts";
import { removeLink } from "../folder.ts";
import { ForkError } from "../problems.ts";
import { ownerOf, removeBranch, removeEmptyHome, worktreeOf } from "../worktree.ts";

export interface ForkRemoval {
  v: 1;
  /** Null if there is no directory of ours to delete. */
  removal: Removal | null;
  /** Nested repositories to move out first. */
  kept: KeptRepository[];
  /** Nested repositories that contain only what their remotes have. */
  clean: string[];
  /** The commit at which the branch may be deleted; null if the branch stays. */
  tip: string | null;
  /** The step with the fork's last state. */
  step: string | null;
  /** What the fork's index was before the step was taken; absent if no step holds it. */
  index?: string | null;
}

export interface Removed {
  /** Content of the directory that nothing else holds. */
  left: Leftovers | null;
  /** The ref with changes staged after the step was taken. */
  staged: string | null;
}

export function writeForkRemoval(workspace: Workspace, { id }: ForkRecord, removal: ForkRemoval): void {
  writeJson(removalFile(workspace, id), removal, { sync: true });
}

/** Undefined if there is none, or if it is unreadable. */
export function readForkRemoval(workspace: Workspace, { id }: ForkRecord): ForkRemoval | undefined {
  try {
    const value = readJson(removalFile(workspace, id)) as Partial<ForkRemoval> | undefined;
    const lists = [value?.kept, value?.clean].every(Array.isArray);
    const isWhole = value?.v === 1 && lists && (value.removal === null || isRemoval(value.removal, id));
    return isWhole ? (value as ForkRemoval) : undefined;
  } catch (error) {
    logError("reading what a fork's drop has left to do", error);
    return undefined;
  }
}

/** The point of no return: renames the directory. */
export function beginRemoval(workspace: Workspace, record: ForkRecord, job: ForkRemoval): void {
  if (job.removal) setAside(job.removal, () => writeForkRemoval(workspace, record, job));
  faultPoint("fork:renamed");
}

/** Identifies the content of a fork's index; null if there is none. */
export function indexMark(adminDir: string): string | null {
  const file = join(adminDir, "index");
  return exists(file) ? hexDigest("sha1", readFileSync(file)) : null;
}

/** Repeatable after a kill. */
export async function completeRemoval(
  workspace: Workspace,
  record: ForkRecord,
  { removal, kept, clean, tip, step, index }: ForkRemoval,
): Promise<Removed> {
  const owned = worktreeOf(workspace, record);
  const left = removal
    ? await removeDirectory(workspace, record, removal, kept, clean, owned)
    : await moveRepositories("", kept).then(() => null);
  faultPoint("fork:removed");
  let staged: string | null = null;
  if (owned && owned.state !== "linked") {
    refuseUnmoved(kept);
    // No git finds the index anymore, so that this is its last state.
    if (index !== undefined && indexMark(owned.adminDir) !== index)
      staged = await holdIndex(workspace, refId(record), owned.adminDir);
    removeAdminDir(owned, ownerOf(record).kind);
  }
  if (record.kind === "directory") removeLink(record);
  faultPoint("fork:forgotten");
  const directory = removal?.directory ?? record.directory;
  if (directory !== null) removeEmptyHome(dirname(directory));
  if (record.branch !== null && tip !== null) await removeBranch(workspace, record.branch, tip);
  faultPoint("fork:unbranched");
  await releaseBrought(workspace, record);
  if (record.making === null) {
    // Omits the prompt, which would otherwise have to be deleted here too when it is forgotten.
    const fork: ForkRecord = { ...record, state: "ready", from: { ...record.from, prompt: null } };
    appendOperation(workspace, {
      v: 1,
      id: record.id,
      kind: "drop",
      time: now().toISOString(),
      takesBack: null,
      fork,
      step,
      tip,
    });
  }
  removeForkRecord(workspace, record.id);
  return { left, staged };
}

async function removeDirectory(
  workspace: Workspace,
  record: ForkRecord,
  removal: Removal,
  kept: readonly KeptRepository[],
  clean: readonly string[],
  owned: OwnedWorktree | undefined,
): Promise<Leftovers | null> {
  const { directory, aside } = removal;
  if (!exists(directory)) {
    await forgetWorktreeHooks({ ...workspace, root: directory, worktree: record.worktree ?? workspace.worktree });
  }
  await moveRepositories(aside, kept);
  // A repository may have new commits since the plan.
  const there = clean.filter((path) => exists(onDisk(aside, path)));
  const again = await nestedRepositories(aside, there, owned ? join(owned.adminDir, "modules") : null);
  const own = again.filter(({ path }) => path !== null);
  await moveRepositories(aside, keptRepositories(own, directory));
  faultPoint("fork:nested");
  const whole = own.flatMap(({ path, work }) => (path !== null && work === null ? [path] : []));
  return finishRemoval({ ...removal, whole: [...removal.whole, ...whole] });
}

/** Throws if a repository was not moved: deleting git's worktree record would delete it too. */
function refuseUnmoved(kept: readonly KeptRepository[]): void {
  const unmoved = kept.find(({ gitDir }) => gitDir !== null && exists(gitDir));
  if (!unmoved) return;
  throw new ForkError("failed", { kind: "repository-not-moved", from: unmoved.gitDir ?? "", to: unmoved.to });
}

/** Deletes the store's records of hooks in a deleted directory. */
export async function forgetWorktreeHooks(gone: Workspace): Promise<void> {
  for (const [id, { scope }] of Object.entries(readStore(gone)?.agents ?? {})) {
    const agent = await getAgent(id);
    if (scope !== "local" || !agent?.profile.hooks || agent.selfInstaller) continue;
    try {
      await forgetInstalled(agent, { workspace: gone, executable: process.execPath });
    } catch (error) {
      logError("hooks of a worktree that was removed", messageOf(error));
    }
  }
}

function removalFile(workspace: Workspace, id: string): string {
  return join(forkDirectory(workspace, id), "removal.json");
}

function exists(path: string | Buffer): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
