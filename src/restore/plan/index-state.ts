/** Plans changes to the user's index and applies them with git's own commands. */

import { logError } from "../../base/log.ts";
import { nulSeparated } from "../../git/conversion/conversion.ts";
import { gitIn } from "../../git/git.ts";
import { entryKey, type IndexEntry, indexEntries, indexLine } from "../../git/index/entries.ts";
import { changeUserIndex } from "../../git/index/user-index.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import { entryAt, TREE_MODE, type TreeEntry, type TreeStore } from "../../git/objects/trees.ts";
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { StepSnapshot } from "../../model/step.ts";
import type { IndexPlan } from "../apply/journal.ts";
import type { RestoreNote } from "../notes.ts";

/** Null if the index needs no change. */
export async function planIndex(
  trees: TreeStore,
  present: Snapshot,
  target: StepSnapshot,
  unwatched: ReadonlySet<string>,
  commit: string | null,
): Promise<IndexPlan | null> {
  const entries = new Map<string, IndexPlan["entries"][number]>();
  for (const { path, after } of await compareTrees(trees, present.index, target.index))
    entries.set(path, { path, entry: after });
  const sameStages = JSON.stringify(present.unmerged) === JSON.stringify(target.unmerged);
  const unmerged = sameStages ? [] : target.unmerged;
  const odd = [...(sameStages ? [] : present.unmerged.map(({ path }) => path)), ...present.intentToAdd];
  const intended = new Set(target.intentToAdd);
  for (const path of odd) {
    if (!entries.has(path) && !intended.has(path))
      entries.set(path, { path, entry: await fileAt(trees, target.index, path) });
  }
  const already = new Set(present.intentToAdd);
  const intentToAdd = target.intentToAdd.filter((path) => !already.has(path));
  const kept = [...entries.values()].filter(({ path }) => !unwatched.has(path));
  if (kept.length + unmerged.length + intentToAdd.length === 0) return null;
  const plan = { commit, entries: kept, unmerged, intentToAdd };
  return { ...plan, seen: await seenAt(trees, present, pathsOf(plan)) };
}

function pathsOf({ entries, unmerged, intentToAdd }: IndexPlan): string[] {
  return [...new Set([...[...entries, ...unmerged].map(({ path }) => path), ...intentToAdd])];
}

/** The index entries at these paths when the snapshot was taken, in git's format. */
async function seenAt(
  trees: TreeStore,
  { index, unmerged, intentToAdd }: Snapshot,
  paths: readonly string[],
): Promise<Record<string, IndexEntry[]>> {
  const seen: Record<string, IndexEntry[]> = Object.create(null);
  const stages = new Map(unmerged.map((one) => [one.path, one.stages]));
  const intended = new Set(intentToAdd);
  for (const path of paths) {
    const entry = await fileAt(trees, index, path);
    seen[path] = stages.get(path) ?? (intended.has(path) ? [INTENDED] : entry ? [[0, entry.mode, entry.id]] : []);
  }
  return seen;
}

/** Returns null for directories, which an index does not contain. */
async function fileAt(trees: TreeStore, root: string, path: string): Promise<TreeEntry | null> {
  const entry = await entryAt(trees, root, path);
  return entry?.mode === TREE_MODE ? null : entry;
}

/** An intent-to-add entry. */
const INTENDED: IndexEntry = [0, "intent-to-add", ""];
const EMPTY_BLOBS = [
  "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
  "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

/**
 * Returns notes for the user if some or all entries could not be restored. Compares and updates under git's index
 * lock, so newly staged changes stay. Idempotent.
 */
export async function restoreIndex(workspace: Workspace, plan: IndexPlan): Promise<RestoreNote[]> {
  const git = gitIn(workspace);
  if (!plan.seen) return [{ kind: "index-left", why: "earlier-version" }];
  if ((await gitIn(workspace).resolve("HEAD")) !== plan.commit) return [{ kind: "index-left", why: "head-moved" }];
  let refusal: string | undefined;
  let changed: string[] = [];
  const outcome = await changeUserIndex(workspace, async (env) => {
    changed = changedPaths(plan, await indexEntries(workspace, env, pathsOf(plan)));
    const rest = without(plan, new Set(changed));
    const input = Buffer.concat(linesOf(rest, workspace.hash === "sha1" ? 40 : 64));
    const result = await git.try(["update-index", "-z", "--index-info"], { env, input });
    if (result.code !== 0) {
      refusal = result.stderr.trim().split("\n").at(-1) ?? "git refused";
      return false;
    }
    if (rest.intentToAdd.length === 0) return true;
    await git.try(["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"], {
      env: { ...env, GIT_LITERAL_PATHSPECS: "1" },
      input: nulSeparated(rest.intentToAdd),
    });
    return true;
  });
  if (outcome !== "done" && refusal !== undefined) return [{ kind: "index-refused", reason: refusal }];
  if (outcome !== "done") return [{ kind: "index-left", why: "locked" }];
  return changed.length === 0 ? [] : [{ kind: "staged-left", paths: changed }];
}

/**
 * Paths whose current entries match neither the entries seen by the plan nor the wanted ones. (An earlier attempt may
 * already have written the wanted ones.)
 */
function changedPaths(plan: IndexPlan, current: ReadonlyMap<string, readonly IndexEntry[]>): string[] {
  const wanted = new Map<string, readonly IndexEntry[]>();
  for (const { path, entry } of plan.entries) wanted.set(path, entry ? [[0, entry.mode, entry.id]] : []);
  for (const { path, stages } of plan.unmerged) wanted.set(path, stages);
  const intended = new Set(plan.intentToAdd);
  return pathsOf(plan).filter((path) => {
    const [now, seen] = [current.get(path) ?? [], plan.seen?.[path] ?? []];
    if (isOnlyName(now) && (intended.has(path) || seen[0]?.[1] === INTENDED[1])) return false;
    return ![entryKey(seen), entryKey(wanted.get(path))].includes(entryKey(now));
  });
}

/** git lists an intent-to-add entry as an empty blob. */
function isOnlyName(entries: readonly IndexEntry[]): boolean {
  return entries.length === 1 && EMPTY_BLOBS.includes(entries[0]?.[2] ?? "");
}

function without(plan: IndexPlan, left: ReadonlySet<string>): IndexPlan {
  return {
    entries: plan.entries.filter(({ path }) => !left.has(path)),
    unmerged: plan.unmerged.filter(({ path }) => !left.has(path)),
    intentToAdd: plan.intentToAdd.filter((path) => !left.has(path)),
  };
}

/** Refreshes git's cached stat data so that the next `git status` is fast. Best effort. */
export async function refreshIndex(workspace: Workspace): Promise<void> {
  if (workspace.kind === "private") return;
  try {
    await changeUserIndex(workspace, async (env) => {
      await gitIn(workspace).try(["update-index", "-q", "--refresh"], { env });
      return true;
    });
  } catch (error) {
    logError("refreshing the index", error);
  }
}

function linesOf(plan: IndexPlan, idLength: number): Buffer[] {
  const lines: Buffer[] = [];
  // Removing a path removes all its stages; only then can new stages be added.
  for (const { path } of plan.entries) lines.push(indexLine(path, null, 0, idLength));
  for (const { path } of plan.unmerged) lines.push(indexLine(path, null, 0, idLength));
  const conflicted = new Set(plan.unmerged.map(({ path }) => path));
  for (const { path, entry } of plan.entries) if (entry && !conflicted.has(path)) lines.push(indexLine(path, entry));
  for (const { path, stages } of plan.unmerged) {
    for (const [stage, mode, id] of stages) lines.push(indexLine(path, { mode, id }, stage));
  }
  return lines;
}
