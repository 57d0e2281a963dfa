/** Whose child a run is: named by the user, or told by the environment of the agent that started it. */
import { UserError } from "../base/errors.ts";
import { findWorkspace } from "../git/workspace.ts";
import { listSessions } from "../lifecycle/session-state.ts";
import { findLog, type LogFile, nameOf } from "./layout.ts";
import { nameSince } from "./ledger.ts";

/** Names the session in which a run is started. Hooks put it into the agent's shells, and `run` into its environment. */
export const SESSION_VARIABLE = "BACKTRAIL_SESSION_ID";
/** Names the run itself, for where its agent has told another session's id than we gave it, or none yet. */
export const RUN_VARIABLE = "BACKTRAIL_RUN";

/** Names the session that started the run, so that the run's own hooks record whose child it is. */
export const PARENT_VARIABLE = "BACKTRAIL_PARENT_ID";

/** An agent tells its session before it does anything; what it printed is read at once. */
const NAMED_MS = 1_000;
const POLL_MS = 20;

export interface Parent {
  id: string;
  /** Null for a recorded session that is no run: it has no log. */
  log: LogFile | null;
}

export function requireParent(logs: string, id: string, cwd: string): Parent {
  const parent = findParent(logs, id, cwd);
  if (parent) return parent;
  throw new UserError("failed", `Parent session not found: ${id}`, "`--list` shows the sessions there are.");
}

/** Nothing where the run wasn't started by an agent, or by one that nobody knows here. */
export async function parentFromEnvironment(
  logs: string,
  environment: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Promise<Parent | undefined> {
  const session = environment[SESSION_VARIABLE];
  const run = environment[RUN_VARIABLE];
  if (session && run && findLog(logs, session) === undefined) await untilNamed(logs, nameOf(run));
  const found = session ? findParent(logs, session, cwd) : undefined;
  if (found) return found;
  return run ? findParent(logs, nameSince(logs, nameOf(run)) ?? run, cwd) : undefined;
}

/** The hooks may know a session before the run has read its name from the stream and given it to the log. */
async function untilNamed(logs: string, run: string): Promise<void> {
  const end = performance.now() + NAMED_MS;
  while (performance.now() < end && findLog(logs, run) !== undefined && nameSince(logs, run) === undefined) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function findParent(logs: string, id: string, cwd: string): Parent | undefined {
  const log = findLog(logs, id);
  if (log) return { id: log.name === nameOf(id) ? id : log.name, log };
  const workspace = findWorkspace(cwd);
  const recorded = workspace && listSessions(workspace).some((session) => session.id === id);
  return recorded ? { id, log: null } : undefined;
}
