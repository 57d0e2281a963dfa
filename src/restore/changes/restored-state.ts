/** Computes the state of the files directly after a restore from its record. */
import { pathMatcher } from "../../base/fs/glob.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import type { TreeEntry, TreeStore } from "../../git/objects/trees.ts";
import type { ObjectWriter } from "../../git/objects/writer.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { stepsIn } from "../../steps/log.ts";
import { mergeOf, type RecordedMerge, type RestoreRecord, readRestores } from "../apply/restore-log.ts";
import { pastState } from "../revert/own-changes.ts";
import { type Change, revertChanges, type TreeState } from "../revert/revert.ts";

interface Objects {
  trees: TreeStore;
  writer: ObjectWriter;
}

/** Null if unknown. */
export async function stateAfterRestore(
  workspace: Workspace,
  objects: Objects,
  record: RestoreRecord,
  safety: Step,
): Promise<TreeState | null> {
  const before = safety.snapshot;
  if (record.scope === "chat") return before;
  const merge = mergeOf(record);
  if (merge && (await hasTrees(objects.trees, merge)))
    return revertChanges(workspace, objects, before, merge.changes, merge.markers);
  const reversed = record.takesBack === null ? null : await reversedMerge(workspace, objects, record.takesBack);
  if (reversed) return revertChanges(workspace, objects, before, [reversed], merge?.markers ?? false);
  if (merge) return null;
  const step = "step" in record.target ? stepsIn(workspace).byId(record.target.step) : undefined;
  if (!step) return null;
  return record.paths ? withPaths(objects.trees, before, step.snapshot, record.paths) : step.snapshot;
}

/** What a restore changed by merging, as a change that can be merged again; null if it merged nothing. */
async function mergedChange(
  workspace: Workspace,
  objects: Objects,
  record: RestoreRecord,
  safety: Step,
): Promise<Change | null> {
  const merge = mergeOf(record);
  if (!merge || !(await hasTrees(objects.trees, merge))) return null;
  const before = pastState(safety, null);
  const { work, raw } = await revertChanges(workspace, objects, before, merge.changes, merge.markers);
  const paths = await changedPaths(objects.trees, before, { work, raw });
  return { before, after: { work, raw }, paths: [...paths], name: `the-${record.kind}` };
}

/** Whether git still has the trees of a merge: nothing keeps those that no step holds. */
export async function hasTrees(trees: TreeStore, { changes }: RecordedMerge): Promise<boolean> {
  const ids = changes.flatMap(({ before, after }) => [before.work, before.raw, after.work, after.raw]);
  const read = await Promise.allSettled(ids.map((id) => trees.read(id)));
  return read.every(({ status }) => status === "fulfilled");
}

export async function changedPaths(trees: TreeStore, before: TreeState, after: TreeState): Promise<Set<string>> {
  const paths = new Set<string>();
  for (const { path } of await compareTrees(trees, before.work, after.work)) paths.add(path);
  for (const { path } of await compareTrees(trees, before.raw, after.raw)) paths.add(path);
  return paths;
}

async function reversedMerge(workspace: Workspace, objects: Objects, id: string): Promise<Change | null> {
  const record = readRestores(workspace).find((other) => other.id === id);
  const safety = record && stepsIn(workspace).byId(record.safetyStep);
  return record && safety ? mergedChange(workspace, objects, record, safety) : null;
}

async function withPaths(
  trees: TreeStore,
  before: TreeState,
  target: TreeState,
  patterns: readonly string[],
): Promise<TreeState> {
  const isChosen = pathMatcher(patterns);
  const apply = async (from: string | null, to: string | null) => {
    const changes = new Map<string, TreeEntry | null>();
    for (const { path, after } of await compareTrees(trees, from, to)) if (isChosen(path)) changes.set(path, after);
    return changes.size === 0 ? from : trees.apply(from, changes);
  };
  const work = await apply(before.work, target.work);
  return { work: work ?? before.work, raw: await apply(before.raw, target.raw) };
}
