/** The log of a store's steps, asked with a query instead of searched in a loop. */
import type { Workspace } from "../git/workspace.ts";
import type { Step, StepKind } from "../model/step.ts";
import { indexFile, recordsNewestFirst } from "./index-file.ts";
import { StepError } from "./problems.ts";

/** Which steps to read. A condition that is left out accepts every step. */
export interface StepQuery {
  /** The step's id, or its beginning. */
  id?: string;
  worktree?: string;
  agent?: string | null;
  /** The session's id; two agents may use the same one. */
  session?: string | null;
  sessionPrefix?: string;
  turn?: number;
  kinds?: readonly StepKind[];
  name?: string;
  /** Only steps that have a position in a transcript. */
  hasTranscript?: true;
  /** Only steps saved after the one with this id. */
  after?: string;
  /** Only the step with this id and those saved after it. */
  backTo?: string;
  /** Only the step with this id and those saved before it. */
  from?: string;
  /** Reads no further than the first step before this time. */
  since?: string;
  limit?: number;
}

class StepLog {
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Reads only as much of the log as the caller consumes. */
  *newestFirst(query: StepQuery = {}): Generator<Step> {
    const { after, backTo, from, since, limit = Number.POSITIVE_INFINITY } = query;
    const isBounded = [after, backTo, from, since].some((bound) => bound !== undefined);
    let isReached = from === undefined;
    let count = 0;
    if (limit <= 0) return;
    for (const step of recordsNewestFirst(indexFile(this.#workspace), isBounded ? "" : textOf(query))) {
      if (step.id === after || (since !== undefined && step.time < since)) return;
      isReached ||= step.id === from;
      if (isReached && isWanted(step, query)) {
        yield step;
        count += 1;
      }
      if (count >= limit || step.id === backTo) return;
    }
  }

  /** Newest first. */
  list(query: StepQuery = {}): Step[] {
    return [...this.newestFirst(query)];
  }

  oldestFirst(query: StepQuery = {}): Step[] {
    return this.list(query).reverse();
  }

  newest(query: StepQuery = {}): Step | undefined {
    for (const step of this.newestFirst(query)) return step;
    return undefined;
  }

  has(query: StepQuery = {}): boolean {
    return this.newest(query) !== undefined;
  }

  /** The step whose id begins with `prefix`; undefined if none does. Throws if several do. */
  byId(prefix: string): Step | undefined {
    const found: Step[] = [];
    for (const step of this.newestFirst({ id: prefix })) {
      if (step.id === prefix) return step;
      found.push(step);
    }
    if (found.length <= 1) return found[0];
    throw new StepError("usage", { kind: "step-prefix-ambiguous", text: prefix, ids: found.map(({ id }) => id) });
  }

  /** The full id of the session that begins with `prefix`. Throws if there is none, or if several do. */
  sessionId(prefix: string): string {
    const ids = new Set<string>();
    for (const { session } of this.newestFirst({ sessionPrefix: prefix })) {
      if (session === prefix) return session;
      if (session !== null) ids.add(session);
    }
    const [id] = ids;
    if (ids.size > 1) throw new StepError("usage", { kind: "session-prefix-ambiguous", text: prefix });
    if (id === undefined) throw new StepError("not-found", { kind: "session-prefix-unknown", text: prefix });
    return id;
  }
}

export function stepsIn(workspace: Workspace): StepLog {
  return new StepLog(workspace);
}

function isWanted(step: Step, query: StepQuery): boolean {
  const { id, worktree, agent, session, sessionPrefix, turn, kinds, name, hasTranscript } = query;
  return (
    (id === undefined || step.id.startsWith(id)) &&
    (worktree === undefined || step.worktree === worktree) &&
    (agent === undefined || step.agent === agent) &&
    (session === undefined || step.session === session) &&
    (sessionPrefix === undefined || step.session?.startsWith(sessionPrefix) === true) &&
    (turn === undefined || step.turn === turn) &&
    (kinds === undefined || kinds.includes(step.kind)) &&
    (name === undefined || step.name === name) &&
    (hasTranscript === undefined || Boolean(step.transcript))
  );
}

/** Text in the line of every step that the query accepts: of a long list, only a few lines are parsed. */
function textOf({ id, name, session, sessionPrefix, kinds }: StepQuery): string {
  if (id !== undefined) return `"id":${beginning(id)}`;
  if (name !== undefined) return `"name":${JSON.stringify(name)}`;
  if (typeof session === "string") return `"session":${JSON.stringify(session)}`;
  if (sessionPrefix !== undefined) return `"session":${beginning(sessionPrefix)}`;
  return kinds?.length === 1 ? `"kind":${JSON.stringify(kinds[0])}` : "";
}

function beginning(text: string): string {
  return JSON.stringify(text).slice(0, -1);
}
