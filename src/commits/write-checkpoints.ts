/** The worker's tasks for commits: writes queued checkpoints, and completes those whose turns have ended. */
import { now } from "../base/clock.ts";
import { acquire, tryAcquire } from "../base/fs/lock.ts";
import { logError } from "../base/log.ts";
import { takeRewrites } from "../checkpoints/links/rewrites.ts";
import { condense } from "../checkpoints/write/condense.ts";
import {
  pendingKeys,
  readCondensed,
  readPending,
  type TranscriptPosition,
  writeCondensed,
  writePending,
} from "../checkpoints/write/pending.ts";
import { enqueue, queued } from "../checkpoints/write/queue.ts";
import { stillOpen } from "../checkpoints/write/staged-changes.ts";
import { loadConfig } from "../config/load.ts";
import type { Workspace } from "../git/workspace.ts";
import { loadSession, type SessionState } from "../recording/session/store.ts";
import { type StepQuery, stepsIn } from "../steps/log.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { momentOf, queuedSession } from "./hooks.ts";

const LOCK_WAIT_MS = 5_000;

export async function writeCheckpoints(workspace: Workspace): Promise<void> {
  for (const key of pendingKeys(workspace)) await queueFinished(workspace, key);
  for (const { entry, done } of queued(workspace)) {
    try {
      await condense(workspace, entry);
      done();
    } catch (error) {
      // The entry stays in the queue for the next worker.
      logError(`checkpoint ${entry.checkpoint}`, error);
    }
  }
  // Links are written next to their checkpoints, which must exist first.
  await takeRewrites(workspace);
}

/** Removes reverted files from the pending ones; otherwise every commit would check them again. */
export async function tidyPending(workspace: Workspace): Promise<void> {
  for (const key of pendingKeys(workspace)) {
    const lock = tryAcquire(sessionLock(workspace, key));
    try {
      const { files, unfinished } = readPending(workspace, key);
      const open = lock && files.length > 0 ? await stillOpen(workspace, files) : null;
      if (open) writePending(workspace, key, { files: files.filter((path) => open.has(path)), unfinished });
      else if (lock && files.length === 0) writePending(workspace, key, { files, unfinished });
    } finally {
      lock?.release();
    }
  }
}

/** Queues a checkpoint again once the turn of its commit has ended, to add the rest of that turn. */
async function queueFinished(workspace: Workspace, key: string): Promise<void> {
  if (readPending(workspace, key).unfinished.length === 0) return;
  const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
  if (!lock) return;
  try {
    const pending = readPending(workspace, key);
    const state = loadSession(workspace, key);
    if (!state) return;
    const { strategy } = loadConfig(workspace);
    const running = pending.unfinished.filter(({ turn }) => state.openTurn !== null && turn === state.turn);
    for (const { checkpoint, commit, branch, files, since, turn } of pending.unfinished) {
      if (state.openTurn !== null && turn === state.turn) continue;
      const until = turnEnd(workspace, state, turn);
      const session = queuedSession(key, state, files, since, until);
      enqueue(workspace, {
        v: 1,
        checkpoint,
        commit,
        branch,
        strategy,
        time: now().toISOString(),
        sessions: [session],
      });
      const condensed = readCondensed(workspace, key);
      // The checkpoint also covers the conversation of the turn after its commit.
      if (condensed.since.turn === turn) writeCondensed(workspace, key, { ...condensed, since: until });
    }
    writePending(workspace, key, { files: pending.files, unfinished: running });
  } finally {
    lock.release();
  }
}

/** The turn's end; not the session's current position, since a later turn may have begun. */
function turnEnd(workspace: Workspace, state: SessionState, turn: number): TranscriptPosition {
  const query: StepQuery = { session: state.id, turn, kinds: ["turn-end"], hasTranscript: true };
  const end = stepsIn(workspace).newest(query)?.transcript;
  return end ? { turn, generation: end.generation, offset: end.offset } : momentOf(state);
}
