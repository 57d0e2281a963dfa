/** Forks as a person names them, and what has become of them. */
import { UserError } from "../../base/errors.ts";
import { closest, oneLine, shorten } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type ForkRecord, listForks } from "../../steps/forks.ts";
import { stepsNewestFirst } from "../../steps/index-file.ts";
import { forkedFolder } from "./folder.ts";
import { branchTip, forkedWorktree, placeOf } from "./worktree.ts";

export interface ForkStanding {
  record: ForkRecord;
  /** Where it is now; null for a branch alone. */
  directory: string | null;
  /** `gone`: somebody removed its directory, or its branch. */
  state: ForkRecord["state"] | "gone";
  /** Turns that were recorded in it. */
  turns: number;
  /** When something last happened there. */
  lastTime: string;
}

/** By name, branch or directory; by the beginning of the name only where nothing is changed by it. */
export function findFork(workspace: Workspace, text: string, how: "exact" | "beginning"): ForkRecord {
  const forks = listForks(workspace);
  const exact = forks.find(
    ({ name, id, branch, directory }) => [name, id, branch].includes(text) || directory === text,
  );
  const beginning = text === "" || how === "exact" ? [] : forks.filter(({ name }) => name.startsWith(text));
  if (exact) return exact;
  const [only, ...more] = beginning;
  if (only && more.length === 0) return only;
  const shown = shorten(oneLine(text), 60);
  if (only) {
    const names = beginning.slice(0, 5).map(({ name }) => name);
    throw new UserError("usage", `"${shown}" could be any of ${names.join(", ")}.`, "Give a few more letters.");
  }
  const names = forks.map(({ name }) => name);
  const near = closest(text, names);
  const hint = near ? `Did you mean ${near}?` : names.length > 0 ? `There are ${names.join(", ")}.` : undefined;
  throw new UserError("not-found", `There is no fork "${shown}".`, hint ?? "`backtrail fork <step>` makes one.");
}

/** The work tree of a fork; undefined where it is gone, half made, or a branch alone. */
export function workspaceOf(workspace: Workspace, record: ForkRecord): Workspace | undefined {
  if (record.kind === "branch") return undefined;
  return record.kind === "worktree" ? forkedWorktree(workspace, record) : forkedFolder(workspace, record);
}

/** Newest first. */
export async function standings(workspace: Workspace): Promise<ForkStanding[]> {
  const forks = listForks(workspace).reverse();
  // One that was dropped long ago may have had the same name.
  const since = new Map(forks.flatMap(({ worktree, time }) => (worktree === null ? [] : [[worktree, time] as const])));
  const turns = new Map<string, { count: number; last: string }>();
  for (const step of forks.length > 0 ? stepsNewestFirst(workspace) : []) {
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
        state: record.state === "ready" && !(await isThere(workspace, record)) ? "gone" : record.state,
        turns: done?.count ?? 0,
        lastTime: done?.last ?? record.time,
      };
    }),
  );
}

async function isThere(workspace: Workspace, record: ForkRecord): Promise<boolean> {
  if (record.kind !== "branch") return workspaceOf(workspace, record) !== undefined;
  return record.branch !== null && (await branchTip(workspace, record.branch)) !== null;
}
