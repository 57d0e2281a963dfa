/**
 * Locates the checkpoint branch. Unless the user shares checkpoints, it is in the private repository next to the store,
 * out of reach of any push, clone or bundle of the user's repository. Both repositories may have checkpoints: another
 * tool writes to the user's, and settings change. New checkpoints go to the home; all locations are read.
 */

import { join } from "node:path";
import { acquire } from "../../base/fs/lock.ts";
import { loadConfig } from "../../config/load.ts";
import { privateGitDirectory, privateObjects, privatePlace, privateRepository } from "../../git/private/store.ts";
import { hasRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { CHECKPOINT_BRANCH } from "../format/layout.ts";
import { CheckpointError } from "../problems.ts";

const LOCK_WAIT_MS = 60_000;

/** True if the user wants checkpoints on a branch of the repository. */
export function sharesCheckpoints(workspace: Workspace): boolean {
  const { checkpoints, push } = loadConfig(workspace);
  return checkpoints.branch === "public" || (checkpoints.branch === "auto" && push.enabled);
}

/** Returns the repository for new checkpoints. Creates the private one if it is missing. */
export function checkpointHome(workspace: Workspace): Workspace {
  if (workspace.kind === "private" || sharesCheckpoints(workspace)) return workspace;
  privatePlace(workspace)();
  return privateRepository(workspace);
}

/** Returns all repositories that may have checkpoints, the home first. Creates none. */
export function checkpointPlaces(workspace: Workspace): Workspace[] {
  if (privateObjects(workspace) === undefined) return [workspace];
  const hidden = privateRepository(workspace);
  return sharesCheckpoints(workspace) ? [workspace, hidden] : [hidden, workspace];
}

export function hasCheckpoints(workspace: Workspace): boolean {
  return checkpointPlaces(workspace).some((place) => hasRef(place, CHECKPOINT_BRANCH));
}

/** True if the repository is the private one next to the store. */
export function isHidden(place: Workspace): boolean {
  return place.commonDir === privateGitDirectory(place);
}

/**
 * Keeps other processes from deleting unused objects in the private repository, because newly written objects have no
 * ref yet. A process that deletes unused objects must call this, too.
 */
export async function whileObjectsStay<T>(place: Workspace, work: () => Promise<T>): Promise<T> {
  if (!isHidden(place)) return work();
  const lock = await acquire(join(place.storeDir, "checkpoints.lock"), LOCK_WAIT_MS);
  if (!lock) throw new CheckpointError("failed", { kind: "checkpoints-locked" });
  try {
    return await work();
  } finally {
    lock.release();
  }
}
