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
export function parentFromEnvironment(
  logs: string,
  environment: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Parent | undefined {
  const session = environment[SESSION_VARIABLE];
  const found = session ? findParent(logs, session, cwd) : undefined;
  if (found) return found;
  const run = environment[RUN_VARIABLE];
  return run ? findParent(logs, nameSince(logs, nameOf(run)) ?? run, cwd) : undefined;
}

function findParent(logs: string, id: string, cwd: string): Parent | undefined {
  const log = findLog(logs, id);
  if (log) return { id: log.name === nameOf(id) ? id : log.name, log };
  const workspace = findWorkspace(cwd);
  const recorded = workspace && listSessions(workspace).some((session) => session.id === id);
  return recorded ? { id, log: null } : undefined;
}
