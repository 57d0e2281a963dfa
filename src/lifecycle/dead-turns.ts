/** Turns that never ended because nobody is there any more to end them: an agent was killed, or crashed. */
import type { Agent } from "../agents/agent.ts";
import { getAgent, unknownAgent } from "../agents/registry.ts";
import { isRunning } from "../base/processes.ts";
import type { Workspace } from "../git/workspace.ts";
import { loadSession, marked, type SessionState } from "./session-state.ts";

/** Without a process to look at, a turn that nothing was heard of for this long is over. */
const SILENCE_MS = 12 * 60 * 60 * 1000;

/** Open turns in this work tree, of sessions other than `except`, that will not go on. */
export function deadTurns(workspace: Workspace, except: string | null): SessionState[] {
  return marked(workspace, "active").flatMap((key) => {
    if (key === except) return [];
    const state = loadSession(workspace, key);
    return state && isDead(state) ? [state] : [];
  });
}

/** In a turn that will not go on. */
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
