/** Finds steps: the newest, those of a session, or one by its id. */

import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../model/step.ts";
import { stepsNewestFirst } from "./index-file.ts";
import { StepError } from "./problems.ts";

export interface ListOptions {
  limit?: number;
  session?: string;
  /** Include the steps of other worktrees. */
  all?: boolean;
}

/** Newest first. */
export function listSteps(workspace: Workspace, options: ListOptions = {}): Step[] {
  const found: Step[] = [];
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  for (const step of stepsOf(workspace, options)) {
    if (found.length >= limit) break;
    found.push(step);
  }
  return found;
}

/** Newest first; reads only as many steps as the caller consumes. */
export function* stepsOf(workspace: Workspace, options: Omit<ListOptions, "limit"> = {}): Generator<Step> {
  const { all, session } = options;
  const here = all ? {} : { worktree: workspace.worktree };
  yield* stepsNewestFirst(workspace, { ...here, ...(session === undefined ? {} : { session }) });
}

/** False for safety steps, which are listed with the operation that they were saved for. */
export function isOnTimeline({ kind }: Step): boolean {
  return kind !== "safety";
}

/** The full id of the session that begins with `beginning`; undefined if none does. Throws if several do. */
function findSessionId(workspace: Workspace, beginning: string): string | undefined {
  const ids = new Set<string>();
  for (const { session } of stepsNewestFirst(workspace)) {
    if (session === beginning) return session;
    if (session?.startsWith(beginning)) ids.add(session);
  }
  if (ids.size <= 1) return [...ids][0];
  throw new StepError("usage", { kind: "session-prefix-ambiguous", text: beginning });
}

export function requireSessionId(workspace: Workspace, beginning: string): string {
  const found = findSessionId(workspace, beginning);
  if (found !== undefined) return found;
  throw new StepError("not-found", { kind: "session-prefix-unknown", text: beginning });
}

/** The step whose id begins with `prefix`; undefined if none does. Throws if several do. */
export function findStep(workspace: Workspace, prefix: string): Step | undefined {
  const found: Step[] = [];
  for (const step of stepsNewestFirst(workspace, { part: `"id":${JSON.stringify(prefix).slice(0, -1)}` })) {
    if (step.id === prefix) return step;
    if (step.id.startsWith(prefix)) found.push(step);
  }
  if (found.length > 1) {
    throw new StepError("usage", { kind: "step-prefix-ambiguous", text: prefix, ids: found.map((step) => step.id) });
  }
  return found[0];
}
