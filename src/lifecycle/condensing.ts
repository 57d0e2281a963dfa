/** The worker's part in commits: checkpoints that wait are written, and those of turns that ended since are completed. */
import { now } from "../base/clock.ts";
import { acquire, tryAcquire } from "../base/lock.ts";
import { logError } from "../base/log.ts";
import { condense } from "../checkpoints/condense.ts";
import { stillOpen } from "../checkpoints/link.ts";
import {
  type Moment,
  pendingKeys,
  readCondensed,
  readPending,
  writeCondensed,
  writePending,
} from "../checkpoints/pending.ts";
import { enqueue, queued } from "../checkpoints/queue.ts";
import { takeRewrites } from "../checkpoints/rewrites.ts";
import { loadConfig } from "../config/load.ts";
import type { Workspace } from "../git/workspace.ts";
import { listSteps } from "../steps/list.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { momentOf, queuedSession } from "./commits.ts";
import { loadSession, type SessionState } from "./session-state.ts";

const LOCK_WAIT_MS = 5_000;

export async function writeCheckpoints(workspace: Workspace): Promise<void> {
  for (const key of pendingKeys(workspace)) await queueFinished(workspace, key);
  for (const { entry, done } of queued(workspace)) {
    try {
      await condense(workspace, entry);
      done();
    } catch (error) {
      // It stays in the queue: the next worker tries again.
      logError(`checkpoint ${entry.checkpoint}`, error);
    }
  }
  // Links are written beside checkpoints, which must be there.
  await takeRewrites(workspace);
}

/** Changes that somebody took back wait for no commit any more; left there, they would make every commit look. */
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

/** A turn that a commit was made in has ended, however it did: what it said and did since belongs to the same checkpoint. */
async function queueFinished(workspace: Workspace, key: string): Promise<void> {
  if (readPending(workspace, key).unfinished.length === 0) return;
  const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
  if (!lock) return;
  try {
    const pending = readPending(workspace, key);
    const state = loadSession(workspace, key);
    if (!state) return;
    const { strategy } = loadConfig(workspace.root);
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
      if (pending.files.length > 0) continue;
      const { last } = readCondensed(workspace, key);
      writeCondensed(workspace, key, { since: until, last });
    }
    writePending(workspace, key, { files: pending.files, unfinished: running });
  } finally {
    lock.release();
  }
}

/** A later turn may have begun by now. */
function turnEnd(workspace: Workspace, state: SessionState, turn: number): Moment {
  for (const step of listSteps(workspace, { session: state.id, all: true })) {
    if (step.turn < turn) break;
    if (step.turn !== turn || step.kind !== "turn-end" || !step.transcript) continue;
    return { turn, generation: step.transcript.generation, offset: step.transcript.offset };
  }
  return momentOf(state);
}
