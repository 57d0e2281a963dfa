/** Lists the forks of a repository with their state, and finds one by name, branch, directory or session. */
import { closest } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type ForkRecord, listForks } from "../../steps/forks.ts";
import { stepsIn } from "../../steps/log.ts";
import { isUnderWay, runForks } from "../owned/run-forks.ts";
import { forkedFolder } from "./folder.ts";
import { ForkError } from "./problems.ts";
import { branchTip, forkedWorktree, placeOf, worktreeOf } from "./worktree.ts";

export interface ForkStatus {
  record: ForkRecord;
  /** The current directory; null for a branch without one. */
  directory: string | null;
  /**
   * `running`: its run has not ended. `gone`: its directory or branch was deleted. `unlinked`: its directory and git's
   * worktree record do not point to each other.
   */
  state: ForkRecord["state"] | "running" | "gone" | "unlinked";
  /** Number of turns recorded in the fork. */
  turns: number;
  /** Time of the last activity. */
  lastTime: string;
}

/** A shorter session id prefix could be a name. */
const MIN_SESSION = 8;

/**
 * Finds a fork by name, branch or directory; by a name prefix only for read-only commands. Also finds a run's worktree
 * by the run's session.
 */
export async function findFork(workspace: Workspace, text: string, how: "exact" | "beginning"): Promise<ForkRecord> {
  const forks = await forksAndRuns(workspace);
  const exact =
    forks.find(({ name, id, branch, directory }) => [name, id, branch].includes(text) || directory === text) ??
    runOf(forks, text);
  const beginning = text === "" || how === "exact" ? [] : forks.filter(({ name }) => name.startsWith(text));
  if (exact) return exact;
  const [only, ...more] = beginning;
  if (only && more.length === 0) return only;
  if (only) {
    throw new ForkError("usage", { kind: "fork-ambiguous", text, names: beginning.map(({ name }) => name) });
  }
  const names = forks.map(({ name }) => name);
  const near = closest(text, names);
  throw new ForkError("not-found", { kind: "fork-unknown", text, names, closest: near ?? null });
}

/** A run's worktree that is being dropped already has its own record. */
async function forksAndRuns(workspace: Workspace): Promise<ForkRecord[]> {
  const forks = listForks(workspace);
  const known = new Set(forks.map(({ id }) => id));
  return [...forks, ...(await runForks(workspace)).filter(({ id }) => !known.has(id))];
}

function runOf(forks: readonly ForkRecord[], text: string): ForkRecord | undefined {
  if (text.length < MIN_SESSION) return undefined;
  const [only, ...more] = forks.filter(({ run }) => run?.session?.startsWith(text));
  return more.length === 0 ? only : undefined;
}

/** The work tree of a fork; undefined if it is gone, incomplete, or only a branch. */
export function workspaceOf(workspace: Workspace, record: ForkRecord): Workspace | undefined {
  if (record.kind === "branch") return undefined;
  return record.kind === "worktree" ? forkedWorktree(workspace, record) : forkedFolder(workspace, record);
}

/** Newest first. */
export async function forkStatuses(workspace: Workspace): Promise<ForkStatus[]> {
  const forks = (await forksAndRuns(workspace)).sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0));
  // A fork dropped long ago may have had the same name.
  const since = new Map(forks.flatMap(({ worktree, time }) => (worktree === null ? [] : [[worktree, time] as const])));
  const turns = new Map<string, { count: number; last: string }>();
  for (const step of forks.length > 0 ? stepsIn(workspace).newestFirst() : []) {
    if (step.time < (since.get(step.worktree) ?? "~")) continue;
    const known = turns.get(step.worktree) ?? { count: 0, last: step.time };
    if (step.kind === "turn-end") known.count++;
    turns.set(step.worktree, known);
  }
  return Promise.all(
    forks.map(async (record) => {
      const done = record.worktree === null ? undefined : turns.get(record.worktree);
      return {
        record,
        directory: placeOf(workspace, record),
        state: await stateOf(workspace, record),
        turns: done?.count ?? 0,
        lastTime: done?.last ?? record.time,
      };
    }),
  );
}

async function stateOf(workspace: Workspace, record: ForkRecord): Promise<ForkStatus["state"]> {
  if (record.state !== "ready") return record.state;
  if (!(await isThere(workspace, record))) return whyNotThere(workspace, record);
  return isUnderWay(workspace, record) ? "running" : "ready";
}

function whyNotThere(workspace: Workspace, record: ForkRecord): "gone" | "unlinked" {
  return worktreeOf(workspace, record)?.state === "unlinked" ? "unlinked" : "gone";
}

/** The error for commands that need the fork's files: why there are none, and what to do. */
export function missingForkError(workspace: Workspace, record: ForkRecord): ForkError {
  if (whyNotThere(workspace, record) === "gone")
    return new ForkError("not-found", { kind: "fork-gone", fork: record.name });
  const directory = placeOf(workspace, record) ?? "";
  return new ForkError("not-found", { kind: "fork-unreadable", fork: record.name, directory });
}

async function isThere(workspace: Workspace, record: ForkRecord): Promise<boolean> {
  if (record.kind !== "branch") return workspaceOf(workspace, record) !== undefined;
  return record.branch !== null && (await branchTip(workspace, record.branch)) !== null;
}
