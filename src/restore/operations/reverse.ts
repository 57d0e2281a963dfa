/** Computes what a restore changed, as a change that a merge can revert while keeping later work in the same files. */

import { pathMatcher } from "../../base/fs/glob.ts";
import { ObjectStore } from "../../git/objects/object-store.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import type { TreeStore } from "../../git/objects/trees.ts";
import type { ObjectWriter } from "../../git/objects/writer.ts";
import { scratchPlace } from "../../git/private/store.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { stepsIn } from "../../steps/log.ts";
import { isMerged, mergeOf, type RestoreRecord, readRestores } from "../apply/restore-log.ts";
import { hasTrees } from "../changes/restored-state.ts";
import { RestoreError } from "../problems.ts";
import { pastState } from "../revert/own-changes.ts";
import { type Change, revertChanges, type TreeState } from "../revert/revert.ts";
import { treeOf } from "../side-effects/collect.ts";

interface Objects {
  trees: TreeStore;
  writer: ObjectWriter;
}

export async function changeMadeBy(workspace: Workspace, record: RestoreRecord): Promise<Change> {
  using objects = new ObjectStore(workspace, scratchPlace(workspace));
  return await changeOf(workspace, objects, record);
}

export function safetyStepOf(workspace: Workspace, { safetyStep, kind }: RestoreRecord): Step {
  const step = stepsIn(workspace).byId(safetyStep);
  if (step) return step;
  throw new RestoreError("not-found", { kind: "safety-step-gone", step: safetyStep, restore: kind });
}

async function changeOf(workspace: Workspace, objects: Objects, record: RestoreRecord): Promise<Change> {
  const before = pastState(safetyStepOf(workspace, record), null);
  const { work, raw } = await stateAfter(workspace, objects, record, before);
  const isMeant = record.paths === null ? () => true : pathMatcher(record.paths);
  const differences = [
    ...(await compareTrees(objects.trees, before.work, work)),
    ...(await compareTrees(objects.trees, before.raw, raw)),
  ];
  const paths = [...new Set(differences.map(({ path }) => path))].filter(isMeant);
  return { before, after: { work, raw }, paths, name: `the-${record.kind}` };
}

/** Recomputes the state: nothing keeps merged trees, and git may have pruned one that the record names. */
async function stateAfter(
  workspace: Workspace,
  objects: Objects,
  record: RestoreRecord,
  before: TreeState,
): Promise<TreeState> {
  const { target } = record;
  const merge = mergeOf(record);
  const records = readRestores(workspace);
  const original = records.find(({ id }) => id === record.takesBack);
  if (merge && (!original || (await hasTrees(objects.trees, merge))))
    return revertChanges(workspace, objects, before, merge.changes, merge.markers);
  if (original && isMerged(record, records))
    return revertChanges(
      workspace,
      objects,
      before,
      [await changeOf(workspace, objects, original)],
      merge?.markers ?? false,
    );
  if ("turns" in target) throw new Error("An undo records its merge.");
  if ("commit" in target) return { work: await treeOf(workspace, target.commit), raw: null };
  const step = stepsIn(workspace).byId(target.step);
  if (step) return step.snapshot;
  throw new RestoreError("not-found", {
    kind: "target-step-gone",
    step: target.step,
    restore: record.kind,
    safetyStep: record.safetyStep,
  });
}
