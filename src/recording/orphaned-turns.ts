/** Finds orphaned turns: turns that never ended because the agent was killed or crashed. */
import type { Agent } from "../agents/contract/agent.ts";
import { getAgent, unknownAgent } from "../agents/registry/registry.ts";
import { isRunning } from "../base/process/processes.ts";
import type { Workspace } from "../git/workspace.ts";
import { loadSession, marked, type SessionState } from "./session/store.ts";

/** If the agent's process is unknown, a turn without events for this long is over. */
const SILENCE_MS = 12 * 60 * 60 * 1000;

/** Sessions of this work tree, other than `except`, with an orphaned turn. */
export function orphanedTurns(workspace: Workspace, except: string | null): SessionState[] {
  return marked(workspace, "active").flatMap((key) => {
    if (key === except) return [];
    const state = loadSession(workspace, key);
    return state && isDead(state) ? [state] : [];
  });
}

/** Whether the session has an open turn but no running agent. */
export function isDead(state: SessionState): boolean {
  return state.openTurn !== null && !isAlive(state);
}

export function isAlive(state: SessionState): boolean {
  if (state.process) return isRunning(state.process.pid, state.process.start ?? undefined);
  return Date.now() - Date.parse(state.updatedAt) < SILENCE_MS;
}

export async function agentOf(state: SessionState): Promise<Agent> {
  return (await getAgent(state.agent)) ?? unknownAgent(state.agent);
}
