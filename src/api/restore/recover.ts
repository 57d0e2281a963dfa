/**
 * Repairs whatever killed processes left unfinished, before a command does anything else. Almost always there is
 * nothing to repair, so the code that repairs loads only when there is.
 */
import { join } from "node:path";
import { namesIn } from "../../base/fs/files.ts";
import { tryAcquire } from "../../base/fs/lock.ts";
import { logError } from "../../base/log.ts";
import { CHECKPOINT_BRANCH } from "../../checkpoints/format/layout.ts";
import { SYNC_REFS, syncLock } from "../../checkpoints/sync/state.ts";
import { releaseUserIndex } from "../../git/index/user-index.ts";
import { privateRepository } from "../../git/private/store.ts";
import { removeAbandonedLock } from "../../git/refs.ts";
import { hasCurrentLayout, type Workspace } from "../../git/workspace.ts";
import type { MaintenanceEvent } from "../../maintenance/events.ts";
import { isForgetting } from "../../maintenance/forget/journal.ts";
import { removeLeftovers } from "../../maintenance/leftovers.ts";
import { isPurging } from "../../maintenance/purge/journal.ts";
import { recoverSessions } from "../../maintenance/recover.ts";
import { releaseLock } from "../../restore/apply/git-locks.ts";
import { isRestoring } from "../../restore/apply/journal.ts";
import type { ForkRecovery, RestoreNote } from "../../restore/notes.ts";
import { listForks } from "../../steps/forks.ts";
import { SESSION_REFS, sessionLock } from "../../steps/session-tree.ts";
import { removeAbandonedTrials } from "../../trials/trial/record.ts";

export type RecoveryEvent = RestoreNote | ForkRecovery | MaintenanceEvent;

/** Reports what was repaired. */
export async function recover(workspace: Workspace): Promise<RecoveryEvent[]> {
  releaseUserIndex(workspace);
  removeLeftovers(workspace);
  await releaseAbandoned(workspace);
  removeAbandonedTrials(workspace);
  const purged = await finishPurge(workspace);
  // Restores come first: closing a turn must not record a half-restored work tree.
  const restored = await resumeRestores(workspace);
  const forgotten = await finishForgetting(workspace);
  const sessions = await recoverSessions(workspace);
  await migrateStore(workspace).catch((error: unknown) => logError("migration", error));
  return [...purged, ...restored, ...forgotten, ...sessions, ...(await recoverForks(workspace))];
}

async function finishPurge(workspace: Workspace): Promise<MaintenanceEvent[]> {
  return isPurging(workspace) ? (await import("../../maintenance/purge/purge.ts")).finishPurge(workspace) : [];
}

async function resumeRestores(workspace: Workspace): Promise<RestoreNote[]> {
  if (!isRestoring(workspace)) return [];
  return (await import("../../restore/apply/resume-interrupted.ts")).resumeInterruptedRestores(workspace);
}

async function finishForgetting(workspace: Workspace): Promise<MaintenanceEvent[]> {
  return isForgetting(workspace)
    ? (await import("../../maintenance/forget/forget.ts")).finishForgetting(workspace)
    : [];
}

async function migrateStore(workspace: Workspace): Promise<void> {
  if (hasCurrentLayout(workspace)) return;
  await (await import("../../maintenance/migration.ts")).migrateEarlierStore(workspace);
}

async function recoverForks(workspace: Workspace): Promise<ForkRecovery[]> {
  if (listForks(workspace).every(({ state }) => state === "ready")) return [];
  return (await import("../../restore/fork/recover.ts")).finishForks(workspace);
}

/** Releases ref locks whose process is dead. */
async function releaseAbandoned(workspace: Workspace): Promise<void> {
  for (const holder of [workspace, privateRepository(workspace)])
    for (const key of lockedBelow(holder, SESSION_REFS))
      await releaseRef(holder, SESSION_REFS + key, sessionLock(workspace, key));
  for (const holder of [workspace, privateRepository(workspace)])
    for (const key of lockedBelow(holder, SYNC_REFS)) await releaseRef(holder, SYNC_REFS + key, syncLock(workspace));
  // Any process may move this branch, so only the age of its lock shows that the lock is abandoned.
  for (const holder of [workspace, privateRepository(workspace)]) removeAbandonedLock(holder, CHECKPOINT_BRANCH);
}

function lockedBelow({ commonDir }: Workspace, refs: string): string[] {
  return namesIn(join(commonDir, refs)).flatMap((name) => /^([0-9a-f]+)\.lock$/.exec(name)?.[1] ?? []);
}

/**
 * A ref's lock does not name its owner. But our processes hold one of our own locks while they move the ref, and that
 * lock names its owner.
 */
async function releaseRef(workspace: Workspace, ref: string, held: string): Promise<void> {
  const own = tryAcquire(held);
  if (!own) return;
  try {
    await releaseLock(join(workspace.commonDir, `${ref}.lock`));
  } finally {
    own.release();
  }
}
