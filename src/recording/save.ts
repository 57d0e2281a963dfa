/** Saves steps outside of a turn: `save`, and the safety step before a restore. */
import { unknownAgent } from "../agents/registry/registry.ts";
import { now } from "../base/clock.ts";
import { acquire } from "../base/fs/lock.ts";
import { sessionKey } from "../base/ids.ts";
import { loadConfig } from "../config/load.ts";
import { type Capture, type Snapshot, startCapture } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../model/step.ts";
import { saveStep } from "../steps/save.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { captureOptions } from "./dispatcher.ts";
import { agentOf } from "./orphaned-turns.ts";
import { Session } from "./session/session.ts";
import { keyOf, listSessions, loadSession, NO_AGENT, newSessionState, type SessionState } from "./session/store.ts";

const LOCK_WAIT_MS = 5_000;

export interface Saved {
  step: Step;
  chat: "recorded" | "unavailable";
  /** The agent whose conversation was recorded with the step. */
  agent: string | null;
}

/** Records the conversation of `session`, or of the work tree's newest session by default. */
export async function saveManually(
  workspace: Workspace,
  name: string | null,
  session?: SessionState | undefined,
): Promise<Saved> {
  const capture = startCapture(workspace, captureOptions(loadConfig(workspace)));
  try {
    return await saveStandaloneStep(workspace, capture, await capture.finish(), { kind: "manual", name, session });
  } finally {
    capture.close();
  }
}

/** Records the conversation of the given session, or of the work tree's newest session, if any. */
export async function saveStandaloneStep(
  workspace: Workspace,
  capture: Capture,
  snapshot: Snapshot,
  what: { kind: "manual" | "safety"; name: string | null; session?: SessionState | undefined },
): Promise<Saved> {
  const newest = what.session ?? listSessions(workspace).find((state) => state.worktree === workspace.worktree);
  const key = newest ? keyOf(newest) : sessionKey(NO_AGENT, workspace.worktree);
  const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
  try {
    // A hook may have changed the state while this process waited for the lock.
    const state = loadSession(workspace, key) ?? newest ?? anonymousSession(workspace);
    const agent = newest ? await agentOf(newest) : unknownAgent(NO_AGENT);
    state.revision++;
    const session = new Session({ workspace, agent, state, time: now().toISOString() });
    const belongs = newest ? {} : { session: null, agent: null };
    const step = await session.addStep(what.kind, { capture, snapshot }, { name: what.name, prompt: null, ...belongs });
    await saveStep(workspace, capture, session.saveRequests());
    return { step, chat: step.transcript ? "recorded" : "unavailable", agent: newest?.agent ?? null };
  } finally {
    lock?.release();
  }
}

function anonymousSession({ worktree, root }: Workspace): SessionState {
  const known = {
    agent: NO_AGENT,
    id: worktree,
    phase: "ENDED" as const,
    worktree,
    parent: null,
    model: null,
    cwd: root,
  };
  return newSessionState(known, now().toISOString());
}
