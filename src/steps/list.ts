/** Finding steps: the newest ones, those of a session, one by its id. */
import { UserError } from "../base/errors.ts";
import { oneLine, shorten } from "../base/text.ts";
import type { Workspace } from "../git/workspace.ts";
import { stepsNewestFirst } from "./index-file.ts";
import type { Step } from "./model.ts";

export interface ListOptions {
  limit?: number;
  session?: string;
  /** Also the steps of other worktrees. */
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

/** Newest first, reading only as many as the caller looks at. */
export function* stepsOf(workspace: Workspace, options: Omit<ListOptions, "limit"> = {}): Generator<Step> {
  for (const step of stepsNewestFirst(workspace)) {
    if (!options.all && step.worktree !== workspace.worktree) continue;
    if (options.session !== undefined && step.session !== options.session) continue;
    yield step;
  }
}

/** The whole id of the one session that begins so; undefined when there is none, an error when there are several. */
export function findSessionId(workspace: Workspace, beginning: string): string | undefined {
  const ids = new Set<string>();
  for (const { session } of stepsNewestFirst(workspace)) {
    if (session === beginning) return session;
    if (session?.startsWith(beginning)) ids.add(session);
  }
  if (ids.size <= 1) return [...ids][0];
  throw new UserError(
    "usage",
    `"${shorten(oneLine(beginning), 60)}" begins several sessions' ids.`,
    "Give a few more letters.",
  );
}

export function requireSessionId(workspace: Workspace, beginning: string): string {
  const found = findSessionId(workspace, beginning);
  if (found !== undefined) return found;
  const shown = shorten(oneLine(beginning), 60);
  throw new UserError("not-found", `No session here begins with "${shown}".`, "`backtrail sessions` lists them.");
}

/** The one step whose id begins with `prefix`; undefined when there is none, an error when there are several. */
export function findStep(workspace: Workspace, prefix: string): Step | undefined {
  const found: Step[] = [];
  for (const step of stepsNewestFirst(workspace, `"id":${JSON.stringify(prefix).slice(0, -1)}`)) {
    if (step.id === prefix) return step;
    if (step.id.startsWith(prefix)) found.push(step);
  }
  if (found.length > 1) {
    const ids = found.slice(0, 5).map((step) => step.id);
    throw new UserError(
      "usage",
      `"${prefix}" could be any of ${ids.join(", ")}.`,
      "Give a few more letters of the id.",
    );
  }
  return found[0];
}
