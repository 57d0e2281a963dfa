/**
 * Worktrees that were made for runs, known again by a file in git's own record of each: git removes it with the rest.
 * docs/formats/runs.md specifies it.
 */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { now } from "../base/clock.ts";
import { namesIn, readJson, readText, writeJson } from "../base/files.ts";
import { processStart } from "../base/processes.ts";
import type { Workspace } from "./workspace.ts";

const MARK = "backtrail-run.json";

/** Who made it, and from where. */
export interface RunMark {
  v: 1;
  time: string;
  /** Where its branch began. */
  commit: string;
  branch: string;
  /** The process of the run. */
  pid: number;
  start: string | null;
}

export interface RunWorktree extends RunMark {
  /** How git calls it. */
  name: string;
  /** Where it lies now, or lay: it may have been moved, or removed by hand. */
  directory: string;
}

/** `made` is the new work tree. */
export function markRunWorktree(made: Workspace, branch: string, commit: string): void {
  const { pid } = process;
  const mark: RunMark = { v: 1, time: now().toISOString(), commit, branch, pid, start: processStart(pid) ?? null };
  writeJson(join(made.gitDir, MARK), mark);
}

/** Oldest first. No git is started for it. */
export function runWorktrees({ kind, commonDir }: Workspace): RunWorktree[] {
  if (kind !== "repository") return [];
  const home = join(commonDir, "worktrees");
  const found = namesIn(home).flatMap((name): RunWorktree[] => {
    const record = join(home, name);
    const mark = lstatSync(join(record, MARK), { throwIfNoEntry: false }) ? markIn(join(record, MARK)) : undefined;
    const link = mark && readText(join(record, "gitdir"))?.trim();
    return mark && link ? [{ ...mark, name, directory: dirname(link) }] : [];
  });
  return found.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

function markIn(file: string): RunMark | undefined {
  let value: Partial<RunMark> | null;
  try {
    value = readJson(file) as Partial<RunMark> | null;
  } catch {
    return undefined;
  }
  const { v, time, commit, branch, pid, start } = value ?? {};
  if (v !== 1 || typeof time !== "string" || typeof branch !== "string" || !branch.startsWith("run/")) return undefined;
  if (typeof commit !== "string" || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { v, time, commit, branch, pid, start: typeof start === "string" ? start : null };
}
