/**
 * Checks whether a connected agent actually calls its hooks. Installed hooks prove nothing; only a hook call since
 * their installation does.
 */
import type { Agent } from "../../agents/contract/agent.ts";
import type { Scope } from "../../agents/contract/profile.ts";
import { sessionDirectory } from "../../agents/external/serve-session.ts";
import { hookObstacles, type Obstacle } from "../../agents/hooks/obstacles.ts";
import { transcriptDirectories } from "../../agents/registry/transcript-paths.ts";
import { type NewTranscript, newestTranscripts } from "../../checkpoints/import/find.ts";
import { readStore, type Workspace } from "../../git/workspace.ts";
import { lastHeard } from "../../recording/session/last-heard.ts";
import { listSessions, type SessionState } from "../../recording/session/store.ts";
import { connectedAgents } from "../../recording/user-scope/record.ts";
import { copiedSessions } from "./copied-sessions.ts";

/** Hook calls are recorded at most once a minute, and agents write the transcript after calling the hooks. */
const LATE_MS = 5 * 60_000;
/** A transcript that grew for less time than this was written at once, like those of rewinds and forks. */
const GROWN_MS = 10_000;

export interface AgentHealth {
  /** Backtrail has received a hook call in this work tree since the hooks were installed. */
  heard: boolean;
  lastHeard: string | null;
  obstacles: Obstacle[];
  /** A session with a transcript but without hook calls. */
  sessionWithoutHooks: { id: string; time: string } | null;
}

interface Options {
  executable: string;
  shown?: (file: string) => string;
  /** The sessions, if the caller has already loaded them. */
  sessions?: readonly SessionState[];
}

export async function agentHealth(
  workspace: Workspace,
  agent: Agent,
  scope: Scope,
  { executable, shown, sessions = listSessions(workspace) }: Options,
): Promise<AgentHealth> {
  const { id } = agent.profile;
  const own = sessions.filter((session) => session.agent === id);
  const last = lastHeard(workspace, id) ?? lastEvent(workspace, own);
  const since = connectedSince(workspace, id);
  const heard = last !== null && last >= since;
  const obstacles = await hookObstacles(agent, scope, { workspace, executable }, shown);
  return {
    heard,
    lastHeard: last,
    // Hooks that have been called must have been reviewed, whatever the review file says.
    obstacles: heard ? obstacles.filter(({ kind }) => kind !== "review") : obstacles,
    sessionWithoutHooks: unheard(workspace, agent, own, heard ? last : null, since),
  };
}

/** Earlier versions recorded no time per agent. */
function connectedSince(workspace: Workspace, id: string): string {
  return connectedAgents(workspace)[id]?.since ?? readStore(workspace)?.enabledAt ?? "";
}

/** A fallback for earlier versions, which did not record hook calls. */
function lastEvent({ worktree }: Workspace, sessions: readonly SessionState[]): string | null {
  return sessions.find((session) => session.worktree === worktree)?.updatedAt ?? null;
}

function unheard(
  workspace: Workspace,
  agent: Agent,
  sessions: readonly SessionState[],
  last: string | null,
  since: string,
): AgentHealth["sessionWithoutHooks"] {
  if (transcriptDirectories(agent.profile).length === 0) return null;
  const known = new Set(sessions.map(({ id }) => id));
  const from = last === null ? Date.parse(since) : Date.parse(last) + LATE_MS;
  if (Number.isNaN(from)) return null;
  const copies = copiedSessions(workspace);
  const isWorkedOn = ({ session, time, born }: NewTranscript) =>
    (last === null && !copies.has(session)) || (born > 0 && time - born > GROWN_MS);
  const found = newestTranscripts(sessionDirectory(agent, workspace.root), workspace.root, from).find(
    (each) => !known.has(each.session) && isWorkedOn(each),
  );
  return found ? { id: found.session, time: new Date(found.time).toISOString() } : null;
}
