/**
 * Tracks worktrees of runs by a mark in git's own record, which git removes with the worktree. docs/formats/runs.md
 * specifies the mark.
 */
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { namesIn } from "../../base/fs/files.ts";
import { newStepId } from "../../base/ids.ts";
import { processStart } from "../../base/process/processes.ts";
import type { Workspace } from "../workspace.ts";
import type { WorktreePlace } from "./create.ts";
import { addOwnedWorktree, addToMark, isLockedBy, linkOf, markIn, type OwnedWorktree } from "./owned.ts";

/** Records who created the worktree, and from which commit. */
interface RunMark {
  v: 1;
  /** Null for a mark made before marks had ids. */
  id: string | null;
  time: string;
  /** The branch's first commit. */
  commit: string;
  branch: string;
  /** The process of the run. */
  pid: number;
  start: string | null;
  /** The agent's session; null until the agent has reported it, and in marks of older versions. */
  session: string | null;
}

export interface RunWorktree extends RunMark {
  /** Git's name for the worktree. */
  name: string;
  /** The last path known to git; empty if git has none. The directory may have been moved or removed by hand. */
  directory: string;
  owned: OwnedWorktree;
}

/** Returns null on success, or git's message. */
export async function addRunWorktree(
  workspace: Workspace,
  place: WorktreePlace,
  commit: string,
): Promise<string | null> {
  const { pid } = process;
  const { branch, directory } = place;
  const details = { time: now().toISOString(), commit, branch, pid, start: processStart(pid) ?? null };
  return addOwnedWorktree(workspace, { directory, branch, commit }, { kind: "run", id: newStepId() }, details);
}

/** Records the session that ran in the worktree. */
export function noteRunSession(workspace: Workspace, directory: string, session: string): void {
  const worktree = runWorktrees(workspace).find((each) => each.directory === directory);
  if (worktree) addToMark(worktree.owned.adminDir, "run", { session });
}

/** Lists the worktrees of runs, oldest first, without starting git. */
export function runWorktrees({ kind, commonDir }: Workspace): RunWorktree[] {
  if (kind !== "repository") return [];
  const home = join(commonDir, "worktrees");
  const found = namesIn(home).flatMap((name): RunWorktree[] => {
    const adminDir = join(home, name);
    const mark = parseMark(markIn(adminDir, "run"));
    if (!mark) return [];
    const unfinished = mark.id !== null && isLockedBy(adminDir, { kind: "run", id: mark.id });
    const owned = { adminDir, ...linkOf(adminDir), unfinished };
    return [{ ...mark, name, directory: owned.directory ?? "", owned }];
  });
  return found.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

function parseMark(value: Partial<RunMark> | undefined): RunMark | undefined {
  const { v, id, time, commit, branch, pid, start, session } = value ?? {};
  if (v !== 1 || typeof time !== "string" || typeof branch !== "string" || !branch.startsWith("run/")) return undefined;
  if (typeof commit !== "string" || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  const known = typeof id === "string" && /^[k-z]{12}$/.test(id) ? id : null;
  const text = (field: unknown) => (typeof field === "string" ? field : null);
  return { v, id: known, time, commit, branch, pid, start: text(start), session: text(session) };
}
