/** Finds the parent session of a run: named by the user, or by the environment of the agent that started the run. */

import { findWorkspace } from "../git/workspace.ts";
import { listSessions } from "../recording/session/store.ts";
import { nameSince } from "./log/index-file.ts";
import { findLog, type LogFile, nameOf } from "./log/layout.ts";
import { RunError } from "./problems.ts";

/**
 * Holds the id of the session that starts a run. Hooks set it in the agent's shells, `run` in the agent's environment.
 */
export const SESSION_VARIABLE = "BACKTRAIL_SESSION_ID";
/**
 * Holds the id of the run itself, in case the agent reports a different session id than the one we gave it, or none
 * yet.
 */
export const RUN_VARIABLE = "BACKTRAIL_RUN";

/** Holds the id of the session that started the run, so that the run's own hooks record their parent. */
export const PARENT_VARIABLE = "BACKTRAIL_PARENT_ID";

/** An agent reports its session before it does anything else, and we read its output at once. */
const NAMED_MS = 1_000;
const POLL_MS = 20;

export interface Parent {
  id: string;
  /** Null for a recorded session that is not a run: it has no log. */
  log: LogFile | null;
}

export function requireParent(logs: string, id: string, cwd: string): Parent {
  const parent = findParent(logs, id, cwd);
  if (parent) return parent;
  throw new RunError("failed", { kind: "parent-unknown", id });
}

/** Undefined if no agent started the run, or if the agent's session is unknown here. */
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

/** Waits for the log's final name: hooks may know a session before the run has read its id from the stream. */
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
