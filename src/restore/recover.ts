/** Puts right whatever killed processes left half done, before a command does anything else. */
import { join } from "node:path";
import { namesIn } from "../base/files.ts";
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
import { releaseLock } from "./git-locks.ts";
import { removeAbandonedTrials } from "./trial/record.ts";

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
    await releaseLock(join(workspace.commonDir, `${ref}.lock`));
  } finally {
    own.release();
  }
}
