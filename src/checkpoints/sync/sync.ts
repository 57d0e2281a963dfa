/** Runs a complete push or fetch: one at a time per repository, with the outcome recorded. */

import { messageOf, UserError } from "../../base/errors.ts";
import { type Lock, tryAcquire } from "../../base/fs/lock.ts";
import { gitIn } from "../../git/git.ts";
import type { ObjectStore } from "../../git/objects/object-store.ts";
import { readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { checkpointHome, checkpointPlaces } from "../branch/location.ts";
import { gatherCheckpoints } from "../branch/relocate.ts";
import { CHECKPOINT_BRANCH, CHECKPOINT_REFS, isCheckpointName } from "../format/layout.ts";
import { CheckpointError } from "../problems.ts";
import { treeOf } from "../write/commit.ts";
import { openObjects } from "../write/write.ts";
import { type Fetched, fetchCheckpoints, seenRef } from "./fetch.ts";
import type { Patience } from "./incoming.ts";
import { differing } from "./merge-trees.ts";
import { type Pushed, type PushOptions, pushCheckpoints } from "./push.ts";
import type { Remote } from "./remote.ts";
import {
  failed,
  type PushRequest,
  type RemoteState,
  remoteState,
  requestedPush,
  succeeded,
  syncLock,
} from "./state.ts";

const POLL_MS = 50;

export function push(workspace: Workspace, remote: Remote, options: PushOptions): Promise<Pushed> {
  return recorded(workspace, remote, "pushed", options, async () => {
    await gatherCheckpoints(workspace);
    return pushCheckpoints(checkpointHome(workspace), remote, options);
  });
}

export function fetch(workspace: Workspace, remote: Remote, patience: Patience): Promise<Fetched> {
  return recorded(workspace, remote, "fetched", patience, () =>
    fetchCheckpoints(checkpointHome(workspace), remote, patience),
  );
}

export interface SyncStatus {
  /** Checkpoints that the remote lacked, or had less of, when last seen; null if it was never seen. */
  unpushed: string[] | null;
  /** The number of local checkpoints. */
  here: number;
  state: RemoteState | null;
  waiting: PushRequest | null;
}

/** Does not contact the remote. */
export async function syncStatus(workspace: Workspace, remote: Remote): Promise<SyncStatus> {
  const places = checkpointPlaces(workspace);
  const here = new Set<string>();
  for (const place of places) for (const id of await checkpointsAt(place)) here.add(id);
  const state = remoteState(workspace, remote.key) ?? null;
  // A remote that was seen and has no branch keeps each checkpoint in its own ref.
  const wasSeen = (state?.fetched ?? state?.pushed ?? null) !== null;
  return {
    unpushed: await unpushedTo(remote, places[0] ?? workspace, wasSeen),
    here: here.size,
    state,
    waiting: requestedPush(workspace) ?? null,
  };
}

/** Covers only the branch: checkpoints with their own refs are pushed by another tool. */
async function unpushedTo(remote: Remote, home: Workspace, wasSeen: boolean): Promise<string[] | null> {
  return withBranches(home, [CHECKPOINT_BRANCH, seenRef(remote)], async (objects, [own = null, seen = null]) =>
    seen === null && !wasSeen ? null : differing(objects, own, seen),
  );
}

/** Lists the checkpoints on the branch and those with their own refs. */
async function checkpointsAt(place: Workspace): Promise<string[]> {
  const onBranch = await withBranches(place, [CHECKPOINT_BRANCH], (objects, [own = null]) =>
    differing(objects, own, null),
  );
  const { stdout } = await gitIn(place).try(["for-each-ref", "--format=%(refname)", CHECKPOINT_REFS]);
  const names = stdout.toString("utf8").split("\n");
  return [...onBranch, ...names.map((ref) => ref.split("/").at(-1) ?? "").filter(isCheckpointName)];
}

/** Passes the root trees of the branches; null for a missing one. */
async function withBranches<T>(
  place: Workspace,
  refs: readonly string[],
  work: (objects: ObjectStore, roots: (string | null)[]) => Promise<T>,
): Promise<T> {
  using objects = openObjects(place);
  const roots: (string | null)[] = [];
  for (const ref of refs) {
    const commit = await readRef(place, ref);
    roots.push(commit === null ? null : await treeOf(objects.reader, commit));
  }
  return await work(objects, roots);
}

async function recorded<T>(
  workspace: Workspace,
  remote: Remote,
  what: "pushed" | "fetched",
  patience: Patience,
  work: () => Promise<T>,
): Promise<T> {
  const lock = await turn(workspace, patience);
  try {
    const result = await work();
    succeeded(workspace, remote, what);
    return result;
  } catch (error) {
    const interrupted = error instanceof UserError && error.kind === "interrupted";
    if (what === "pushed" && !interrupted) failed(workspace, remote, messageOf(error));
    throw error;
  } finally {
    lock.release();
  }
}

/** Waits as long as for a remote, because a background sync may itself be waiting for one. */
async function turn(workspace: Workspace, { seconds, signal }: Patience): Promise<Lock> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const lock = tryAcquire(syncLock(workspace));
    if (lock) return lock;
    if (signal?.aborted) throw new CheckpointError("interrupted", { kind: "interrupted" });
    if (performance.now() > deadline) throw new CheckpointError("failed", { kind: "sync-locked" });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
