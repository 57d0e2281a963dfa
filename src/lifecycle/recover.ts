/** Puts right what killed processes left: saves that were cut off, turns that nobody ended. */
import { existsSync } from "node:fs";
import { now } from "../base/clock.ts";
import { tryAcquire } from "../base/lock.ts";
import { logError } from "../base/log.ts";
import { plural } from "../base/text.ts";
import { loadConfig } from "../config/load.ts";
import { type Capture, type Snapshot, startCapture } from "../git/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import { finishSaves, saveStep } from "../steps/save.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { awaitCommits } from "./awaited-commits.ts";
import { startWorker } from "./background.ts";
import { finishCommit } from "./commits.ts";
import { agentOf, isDead } from "./dead-turns.ts";
import { captureOptions } from "./dispatcher.ts";
import { pushIfDue } from "./pushing.ts";
import { Session } from "./session.ts";
import { loadSession, marked, type SessionState, setMark } from "./session-state.ts";
import { readTail } from "./transcript-tail.ts";

/** Sentences for the user about what was put right. */
export async function recoverSessions(workspace: Workspace): Promise<string[]> {
  const said: string[] = [];
  const finished = await finishSaves(workspace);
  if (finished.length > 0)
    said.push(`Finished saving ${plural(finished.length, "step")} that a killed process had left behind.`);
  await finishCommit(workspace);
  await pushIfDue(workspace);
  const closed = await closeTurns(workspace);
  if (closed > 0) said.push(`Closed ${plural(closed, "turn")} that had been interrupted.`);
  return said;
}

/** Turns whose agent is gone, and turns that their transcript shows as broken off by the user. */
async function closeTurns(workspace: Workspace): Promise<number> {
  const over: string[] = [];
  for (const key of marked(workspace, "active")) {
    const state = loadSession(workspace, key);
    if (!state?.openTurn) setMark(workspace, "active", key, false);
    else if (await isOver(state)) over.push(key);
  }
  if (over.length === 0) return 0;
  const capture = startCapture(workspace, captureOptions(loadConfig(workspace.root)));
  try {
    const snapshot = await capture.finish();
    let closed = 0;
    for (const key of over) if (await closeTurn(workspace, key, capture, snapshot)) closed++;
    return closed;
  } finally {
    capture.close();
  }
}

/** A hook may be at work on the session: then it is not over, or being closed already. */
async function closeTurn(workspace: Workspace, key: string, capture: Capture, snapshot: Snapshot): Promise<boolean> {
  const lock = tryAcquire(sessionLock(workspace, key));
  if (!lock) return false;
  try {
    const state = loadSession(workspace, key);
    if (!state || !(await isOver(state))) return false;
    const session = new Session({ workspace, agent: await agentOf(state), state, time: now().toISOString() });
    state.revision++;
    await session.endTurn(capture, snapshot, null, true);
    const committed = await awaitCommits(workspace, [session], capture);
    await saveStep(workspace, capture, session.saveRequests());
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
    const { analyser } = await agentOf(state);
    return (
      readTail(state.transcript.path, state.transcript, state.openTurn.offset, analyser)?.stretch?.interrupted ?? false
    );
  } catch (error) {
    logError("recover", error);
    return false;
  }
}
