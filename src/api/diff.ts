/** Library API: the differences between two states. */
import { pathMatcher } from "../base/fs/glob.ts";
import { loadConfig } from "../config/load.ts";
import type { Workspace } from "../git/workspace.ts";
import { captureOptions } from "../recording/dispatcher.ts";
import { resolveTarget } from "../restore/targets/resolve.ts";
import { currentSnapshot, diffTrees, patch } from "../steps/diff.ts";

export interface DiffOptions {
  /** The later state; defaults to the current files. */
  to?: string;
  /** Restricts the diff to these files: patterns as in .gitignore. */
  paths?: readonly string[];
}

export interface Diff {
  files: { path: string; status: "added" | "modified" | "deleted" | "mode" }[];
  /** The changes as `git diff` prints them. */
  patch: string;
}

/** The length of a command line is limited. */
const MAX_PATHS_AT_ONCE = 500;

/**
 * Compares two steps, or a step and the current files. Accepts every target that `backtrail rewind` accepts.
 *
 * @example
 * const { files, patch } = await diff(workspace, "prev");
 */
export async function diff(workspace: Workspace, from: string, options: DiffOptions = {}): Promise<Diff> {
  const before = await treeOf(workspace, from);
  const after = options.to === undefined ? await currentTree(workspace) : await treeOf(workspace, options.to);
  const matches = options.paths ? pathMatcher(options.paths) : () => true;
  const files = (await diffTrees(workspace, before, after)).filter(({ path }) => matches(path));
  const names = files.map(({ path }) => path);
  let text = "";
  if (!options.paths) text = names.length === 0 ? "" : await patch(workspace, before, after);
  else
    for (let i = 0; i < names.length; i += MAX_PATHS_AT_ONCE)
      text += await patch(workspace, before, after, names.slice(i, i + MAX_PATHS_AT_ONCE).map(literal));
  return { files: files.map(({ path, status }) => ({ path, status })), patch: text };
}

async function treeOf(workspace: Workspace, target: string): Promise<string> {
  const found = await resolveTarget(workspace, target);
  return found.kind === "step" ? found.step.snapshot.work : found.tree;
}

async function currentTree(workspace: Workspace): Promise<string> {
  return (await currentSnapshot(workspace, captureOptions(loadConfig(workspace)))).work;
}

/** Escapes a file name where git expects a pattern. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]]/g, "\\$&");
}
