/** Steps that nobody's turn asked for: `save`, and the safety step before a restore. */
import { unknownAgent } from "../agents/registry.ts";
import { now } from "../base/clock.ts";
import { sessionKey } from "../base/ids.ts";
import { acquire } from "../base/lock.ts";
import { loadConfig } from "../config/load.ts";
import { type Capture, type Snapshot, startCapture } from "../git/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../steps/model.ts";
import { saveStep } from "../steps/save.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { agentOf } from "./dead-turns.ts";
import { captureOptions } from "./dispatcher.ts";
import { Session } from "./session.ts";
import { keyOf, listSessions, loadSession, NOBODY, type SessionState } from "./session-state.ts";

const LOCK_WAIT_MS = 5_000;

export interface Saved {
  step: Step;
  chat: "recorded" | "unavailable";
  /** Whose conversation was recorded with it. */
  agent: string | null;
}

export async function saveManually(workspace: Workspace, name: string | null): Promise<Saved> {
  const capture = startCapture(workspace, captureOptions(loadConfig(workspace.root)));
  try {
    return await saveOutsideTurns(workspace, capture, await capture.finish(), { kind: "manual", name });
  } finally {
    capture.close();
  }
}

/** With the conversation of the work tree's newest session, if there is one. */
export async function saveOutsideTurns(
  workspace: Workspace,
  capture: Capture,
  snapshot: Snapshot,
  what: { kind: "manual" | "safety"; name: string | null },
): Promise<Saved> {
  const newest = listSessions(workspace).find((state) => state.worktree === workspace.worktree);
  const key = newest ? keyOf(newest) : sessionKey(NOBODY, workspace.worktree);
  const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
  try {
    // A hook may have moved on while the lock was waited for.
    const state = loadSession(workspace, key) ?? newest ?? nobodysSession(workspace);
    const agent = newest ? await agentOf(newest) : unknownAgent(NOBODY);
    state.revision++;
    const session = new Session({ workspace, agent, state, time: now().toISOString() });
    const belongs = newest ? {} : { session: null, agent: null };
    const step = await session.addPlain(what.kind, capture, snapshot, { name: what.name, prompt: null, ...belongs });
    await saveStep(workspace, capture, session.saveRequests());
    return { step, chat: step.transcript ? "recorded" : "unavailable", agent: newest?.agent ?? null };
  } finally {
    lock?.release();
  }
}

function nobodysSession(workspace: Workspace): SessionState {
  const time = now().toISOString();
  return {
    v: 1,
    revision: 0,
    agent: NOBODY,
    id: workspace.worktree,
    phase: "ENDED",
    turn: 0,
    steps: 0,
    worktree: workspace.worktree,
    parent: null,
    startedAt: time,
    updatedAt: time,
    title: null,
    model: null,
    cwd: workspace.root,
    process: null,
    metadata: {},
    transcript: null,
    lastStep: null,
    openTurn: null,
    announcedTasks: [],
    openTasks: [],
  };
}
