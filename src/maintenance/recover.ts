/** Recovers from killed processes: finishes interrupted saves and closes orphaned turns. */

import { existsSync } from "node:fs";
import { now } from "../base/clock.ts";
import { tryAcquire } from "../base/fs/lock.ts";
import { logError } from "../base/log.ts";
import { requestedPush } from "../checkpoints/sync/state.ts";
import { intentFile } from "../commits/intent.ts";
import { loadConfig } from "../config/load.ts";
import { startCapture } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import { captureOptions } from "../recording/dispatcher.ts";
import { agentOf, isDead } from "../recording/orphaned-turns.ts";
import { recordPendingFiles } from "../recording/pending-files.ts";
import { type Captured, Session } from "../recording/session/session.ts";
import { loadSession, marked, type SessionState, setMark } from "../recording/session/store.ts";
import { startWorker } from "../recording/start-worker.ts";
import { readTail } from "../recording/transcript-tail.ts";
import { finishSaves, saveStep } from "../steps/save.ts";
import { sessionLock } from "../steps/session-tree.ts";
import type { MaintenanceEvent } from "./events.ts";

/** Reports the repairs. */
export async function recoverSessions(workspace: Workspace): Promise<MaintenanceEvent[]> {
  const events: MaintenanceEvent[] = [];
  const finished = await finishSaves(workspace);
  if (finished.length > 0) events.push({ kind: "saves-finished", steps: finished.length });
  if (existsSync(intentFile(workspace))) await (await import("../commits/hooks.ts")).finishCommit(workspace);
  if (requestedPush(workspace)) await (await import("../commits/push.ts")).pushIfDue(workspace);
  const closed = await closeTurns(workspace);
  if (closed > 0) events.push({ kind: "turns-closed", turns: closed });
  return events;
}

/** Closes turns whose agent has exited, and turns that the user interrupted according to the transcript. */
async function closeTurns(workspace: Workspace): Promise<number> {
  const over: string[] = [];
  for (const key of marked(workspace, "active")) {
    const state = loadSession(workspace, key);
    if (!state?.openTurn) setMark(workspace, "active", key, false);
    else if (await isOver(state)) over.push(key);
  }
  if (over.length === 0) return 0;
  const capture = startCapture(workspace, captureOptions(loadConfig(workspace)));
  try {
    const captured = { capture, snapshot: await capture.finish() };
    let closed = 0;
    for (const key of over) if (await closeTurn(workspace, key, captured)) closed++;
    return closed;
  } finally {
    capture.close();
  }
}

/** Skips a locked session: a hook is handling it, so its turn is not over or is already being closed. */
async function closeTurn(workspace: Workspace, key: string, captured: Captured): Promise<boolean> {
  const lock = tryAcquire(sessionLock(workspace, key));
  if (!lock) return false;
  try {
    const state = loadSession(workspace, key);
    if (!state || !(await isOver(state))) return false;
    const session = new Session({ workspace, agent: await agentOf(state), state, time: now().toISOString() });
    state.revision++;
    await session.endInterruptedTurn(captured);
    const committed = await recordPendingFiles(workspace, [session], captured.capture);
    await saveStep(workspace, captured.capture, session.saveRequests());
    setMark(workspace, "active", key, false);
    if (committed) startWorker(workspace);
    return true;
  } finally {
    lock.release();
  }
}

async function isOver(state: SessionState): Promise<boolean> {
  return isDead(state) || (await wasInterrupted(state));
}

async function wasInterrupted(state: SessionState): Promise<boolean> {
  if (!state.transcript || !state.openTurn || !existsSync(state.transcript.path)) return false;
  try {
    const { analyzer } = await agentOf(state);
    return (
      readTail(state.transcript.path, state.transcript, state.openTurn.offset, analyzer)?.slice?.interrupted ?? false
    );
  } catch (error) {
    logError("recover", error);
    return false;
  }
}
