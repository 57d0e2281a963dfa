/** Draws up a restore: files, what is staged, the branch, the conversation, and what none of it will undo. */

import { plural, shownPath } from "../base/text.ts";
import { isAttributesFile } from "../git/conversion.ts";
import type { ObjectWriter } from "../git/objects.ts";
import type { Snapshot } from "../git/snapshot.ts";
import { compareTrees } from "../git/tree-diff.ts";
import type { TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { leftAtPresent } from "./at-present.ts";
import { whoConflicts } from "./culprits.ts";
import { headMove } from "./head-move.ts";
import { ignoredThen } from "./ignored-then.ts";
import type { IndexPlan } from "./journal.ts";
import type {
  ChatPlan,
  Conflict,
  FilePlan,
  HeadMove,
  Merge,
  NotUndone,
  RestoreKind,
  RewindOptions,
  RewindPlan,
  Target,
} from "./model.ts";
import { treeOf } from "./not-undone.ts";
import { type Planned, planFiles, WHY_MISSED } from "./plan.ts";
import { planIndex } from "./staged-state.ts";
import { planInput, stateOf, type TargetState } from "./state.ts";
import { type TakenBack, takeBack } from "./take-back.ts";
import type { WorkAhead } from "./work-ahead.ts";

export interface RestoreRequest {
  kind: RestoreKind;
  target: Target;
  options: RewindOptions;
  takesBack: string | null;
  /** Changes to take back where the target alone does not say what the files become. */
  merge: Merge | null;
  /** Where the conversation goes on, if that is known without looking at the target. */
  chat: ChatPlan | null;
}

/** A plan with what it takes to carry it out. */
export interface DrawnUp {
  plan: RewindPlan;
  files: FilePlan;
  index: IndexPlan | null;
  /** What the files become. */
  tree: string;
  /** Whether the attribute files that lie in the work tree are also those of `tree`. */
  attributesStay: boolean;
}

/** With the processes and objects of the snapshot of the present. */
interface Objects {
  trees: TreeStore;
  writer: ObjectWriter;
  ahead: WorkAhead;
}

const NO_FILES: Planned = { files: { write: [], delete: [], chmod: [] }, notUndone: [], conflicts: [] };

export async function drawUp(
  workspace: Workspace,
  objects: Objects,
  present: Snapshot,
  request: RestoreRequest,
): Promise<DrawnUp> {
  const { target, options, merge } = request;
  const { trees, ahead } = objects;
  const head = options.chatOnly ? null : headMove(present, target, options);
  // Each waits for processes of its own.
  const [merged, elsewhere, chat] = await Promise.all([
    merge && mergeInto(workspace, objects, present, merge),
    ahead.notUndone,
    ahead.chat,
  ]);
  const state = stateAfter(request, present, merged);
  let planned = NO_FILES;
  let index: IndexPlan | null = null;
  let attributesStay = false;
  const notUndone: NotUndone[] = [];
  if (!options.chatOnly) {
    const input = await planInput(workspace, { ...ahead, trees }, present, state, options.paths);
    if (options.everything) input.protectedDirectories = [];
    planned = planFiles({ ...input, ignoredThen: await ignoredThen(workspace, trees, state.work, input.differences) });
    attributesStay = input.unwatched.size === 0 && !input.differences.some(({ path }) => isAttributesFile(path));
    const staged = stagedState(workspace, present, state, options, head);
    if (staged) index = await planIndex(trees, present, staged, input.unwatched);
    const told = new Set(planned.notUndone.map(({ what }) => what));
    // What concerns more than single files comes first: a long list is cut.
    notUndone.push(...leftAtPresent(workspace, present, request));
    notUndone.push(...elsewhere.filter(({ what }) => !told.has(what)), ...planned.notUndone);
  }
  const { files } = planned;
  const conflicts = [...planned.conflicts];
  if (merge && merged) {
    const doubts = doubtsOf(merge, merged, files, await whoConflicts(workspace, objects, merge, merged.conflicts));
    conflicts.push(...doubts.conflicts);
    notUndone.push(...doubts.left, ...(await stagedFiles(workspace, trees, present, files)));
  }
  const plan: RewindPlan = {
    kind: request.kind,
    target,
    options,
    takesBack: request.takesBack,
    merge,
    write: files.write.map(({ path }) => path),
    delete: files.delete,
    chmod: files.chmod.map(({ path }) => path),
    notUndone,
    conflicts,
    restoresIndex: index !== null,
    head,
    chat,
  };
  return { plan, files, index, tree: state.work, attributesStay };
}

async function mergeInto(workspace: Workspace, objects: Objects, present: Snapshot, merge: Merge): Promise<TakenBack> {
  const done = await objects.ahead.mergedInto(present);
  return done ?? takeBack(workspace, objects, present, merge.changes, merge.markers);
}

function stateAfter({ target }: RestoreRequest, { head }: Snapshot, merged: TakenBack | null): TargetState {
  if (merged) return { work: merged.work, raw: merged.raw, notCaptured: [], staged: null, head, holdsUntracked: true };
  if (target.kind === "turns") throw new Error("Turns are taken back by merging.");
  return stateOf(target);
}

/** What a merge could not decide: it keeps everything from being done, unless markers show it in the files. */
function doubtsOf({ shared, markers }: Merge, merged: TakenBack, files: FilePlan, by: ReadonlyMap<string, string>) {
  const submodules = merged.submodules.map((path) => ({
    what: shownPath(path),
    why: WHY_MISSED.submodule,
  }));
  const since = ({ path, why }: Conflict) => ({ path, why: by.has(path) ? `${why} (by ${by.get(path)})` : why });
  const unmarked = [...merged.unmarked.map(since), ...shared];
  const marked = merged.conflicts.filter(({ path }) => !unmarked.some((other) => other.path === path)).map(since);
  const written = files.write.length + files.delete.length + files.chmod.length;
  if (!markers || written === 0) return { conflicts: [...marked, ...unmarked].sort(byPath), left: submodules };
  const left = unmarked.map(({ path, why }) => ({
    what: shownPath(path),
    why: `${why}: it is left as it is`,
    unsettled: true as const,
  }));
  return {
    conflicts: marked.map((conflict) => ({ ...conflict, markers: true as const })),
    left: [...left, ...submodules],
  };
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}

/** Merging leaves the index alone: what is staged of these files is said. */
async function stagedFiles(
  workspace: Workspace,
  trees: TreeStore,
  present: Snapshot,
  files: FilePlan,
): Promise<NotUndone[]> {
  if (workspace.kind === "private" || !present.head) return [];
  const headTree = await treeOf(workspace, present.head);
  const touched = new Set([...files.delete, ...files.write.map(({ path }) => path)]);
  const staged = (await compareTrees(trees, headTree, present.index)).filter(({ path }) => touched.has(path));
  if (staged.length === 0) return [];
  return [{ what: `What is staged of ${plural(staged.length, "file")}`, why: "only the files themselves change" }];
}

/** What was staged comes back only where it means the same: on the same commit, and with all files. */
function stagedState(
  workspace: Workspace,
  present: Snapshot,
  state: TargetState,
  options: RewindOptions,
  head: HeadMove | null,
) {
  if (workspace.kind === "private" || (options.paths && options.paths.length > 0)) return null;
  const commit = head ? head.to : present.head;
  return state.head === commit ? state.staged : null;
}
