/** A sync from beginning to end: one at a time in a repository, and what became of it is written down. */
import { messageOf, UserError } from "../../base/errors.ts";
import { type Lock, tryAcquire } from "../../base/lock.ts";
import { readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { treeOf } from "../commit.ts";
import { CHECKPOINT_BRANCH } from "../layout.ts";
import { openObjects } from "../write.ts";
import { type Fetched, fetchCheckpoints, seenRef } from "./fetch.ts";
import type { Patience } from "./incoming.ts";
import { type Pushed, type PushOptions, pushCheckpoints } from "./push.ts";
import type { Remote } from "./remote.ts";
import { failed, type RemoteState, remoteState, succeeded, syncLock, type Wish, wishedPush } from "./state.ts";
import { differing } from "./unite.ts";

const POLL_MS = 50;

export function push(workspace: Workspace, remote: Remote, options: PushOptions): Promise<Pushed> {
  return recorded(workspace, remote, "pushed", options, () => pushCheckpoints(workspace, remote, options));
}

export function fetch(workspace: Workspace, remote: Remote, patience: Patience): Promise<Fetched> {
  return recorded(workspace, remote, "fetched", patience, () => fetchCheckpoints(workspace, remote, patience));
}

export interface SyncStatus {
  /** Checkpoints that the remote, as it was last seen, does not have or has less of; null where it was never seen. */
  unpushed: string[] | null;
  /** All that are here. */
  here: number;
  state: RemoteState | null;
  waiting: Wish | null;
}

/** Without asking the remote. */
export async function syncStatus(workspace: Workspace, remote: Remote): Promise<SyncStatus> {
  const objects = openObjects(workspace);
  try {
    const rootOf = async (ref: string) => {
      const commit = await readRef(workspace, ref);
      return commit === null ? null : treeOf(objects.reader, commit);
    };
    const [own, seen] = [await rootOf(CHECKPOINT_BRANCH), await rootOf(seenRef(remote))];
    return {
      unpushed: seen === null ? null : await differing(objects, own, seen),
      here: (await differing(objects, own, null)).length,
      state: remoteState(workspace, remote.key) ?? null,
      waiting: wishedPush(workspace) ?? null,
    };
  } finally {
    objects.reader.close();
  }
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

/** One in the background may be waiting for a remote itself: it is given as much time as the remote has. */
async function turn(workspace: Workspace, { seconds, signal }: Patience): Promise<Lock> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const lock = tryAcquire(syncLock(workspace));
    if (lock) return lock;
    if (signal?.aborted) throw new UserError("interrupted", "Interrupted.");
    if (performance.now() > deadline)
      throw new UserError("failed", "Another process is syncing checkpoints here.", "Try again in a moment.");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
