/** Puts right whatever killed processes left half done, before a command does anything else. */
import { join } from "node:path";
import { namesIn, removeFile } from "../base/files.ts";
import { tryAcquire } from "../base/lock.ts";
import { CHECKPOINT_BRANCH } from "../checkpoints/layout.ts";
import { SYNC_REFS, syncLock } from "../checkpoints/sync/state.ts";
import { removeAbandonedLock } from "../git/refs.ts";
import { releaseUserIndex } from "../git/user-index.ts";
import type { Workspace } from "../git/workspace.ts";
import { finishForgetting } from "../lifecycle/forget.ts";
import { removeLeftovers } from "../lifecycle/leftovers.ts";
import { recoverSessions } from "../lifecycle/recover.ts";
import { listForks } from "../steps/forks.ts";
import { SESSION_REFS, sessionLock } from "../steps/session-tree.ts";
import { finishRestores } from "./finish.ts";
import { markAt } from "./move.ts";
import { removeAbandonedTrials } from "./trial/record.ts";

/** git, packing refs, holds a ref's lock for milliseconds. */
const HELD_BY_GIT_MS = 1_000;
const POLL_MS = 20;

/** Sentences for the user about what was put right. */
export async function recover(workspace: Workspace): Promise<string[]> {
  releaseUserIndex(workspace);
  removeLeftovers(workspace);
  await releaseAbandoned(workspace);
  removeAbandonedTrials(workspace);
  // Restores first: a turn that is closed now must not record a half restored work tree.
  const restored = await finishRestores(workspace);
  const forgotten = await finishForgetting(workspace);
  return [...restored, ...forgotten, ...(await recoverSessions(workspace)), ...(await recoverForks(workspace))];
}

/** Loaded only where one is half made or half gone. */
async function recoverForks(workspace: Workspace): Promise<string[]> {
  if (listForks(workspace).every(({ state }) => state === "ready")) return [];
  return (await import("./fork/recover.ts")).finishForks(workspace);
}

/** Locks of refs whose process is gone. */
async function releaseAbandoned(workspace: Workspace): Promise<void> {
  for (const key of lockedBelow(workspace, SESSION_REFS))
    await releaseRef(workspace, SESSION_REFS + key, sessionLock(workspace, key));
  for (const key of lockedBelow(workspace, SYNC_REFS))
    await releaseRef(workspace, SYNC_REFS + key, syncLock(workspace));
  // Anybody may move this one: only its age tells.
  removeAbandonedLock(workspace, CHECKPOINT_BRANCH);
}

function lockedBelow({ commonDir }: Workspace, refs: string): string[] {
  return namesIn(join(commonDir, refs)).flatMap((name) => /^([0-9a-f]+)\.lock$/.exec(name)?.[1] ?? []);
}

/** A ref's lock does not say whose it is. But whoever of us moves the ref holds a lock of ours, which does. */
async function releaseRef(workspace: Workspace, ref: string, held: string): Promise<void> {
  const own = tryAcquire(held);
  if (!own) return;
  try {
    const lock = join(workspace.commonDir, `${ref}.lock`);
    const mark = markAt(lock);
    const deadline = performance.now() + HELD_BY_GIT_MS;
    while (performance.now() < deadline) {
      if (markAt(lock) !== mark) return;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    removeFile(lock);
  } finally {
    own.release();
  }
}
