/** Builds the plan of a restore: files, index, branch, conversation, and the side effects it can't undo. */

import { isAttributesFile } from "../../git/conversion/conversion.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import type { TreeStore } from "../../git/objects/trees.ts";
import type { ObjectWriter } from "../../git/objects/writer.ts";
import type { DetailWriter } from "../../git/snapshot/details.ts";
import type { Capture, Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { LineEndSettings } from "../../model/step.ts";
import type { IndexPlan } from "../apply/journal.ts";
import { describe } from "../changes/describe.ts";
import type { Reversal } from "../operations/reversal.ts";
import { findConflictSource } from "../revert/conflict-source.ts";
import { type Reverted, revertChanges } from "../revert/revert.ts";
import { treeOf } from "../side-effects/collect.ts";
import { inProgressEffects } from "../side-effects/in-progress.ts";
import { effectPath, type SideEffect } from "../side-effects/model.ts";
import { changedUnwatched } from "../side-effects/unwatched.ts";
import type {
  ChatPlan,
  Conflict,
  ConflictSource,
  FilePlan,
  HeadMove,
  Merge,
  RestoreKind,
  RestorePlan,
  RewindOptions,
  Target,
} from "../types.ts";
import { type Planned, planFiles } from "./files.ts";
import { headMove } from "./head-move.ts";
import { ignoredAtTarget, ignoredBefore } from "./ignored-at-target.ts";
import { planIndex } from "./index-state.ts";
import { oversizedSafety } from "./oversized-safety.ts";
import { permissionsBefore, permissionsThen } from "./permissions.ts";
import type { Prefetch } from "./prefetch.ts";
import { type PlanObjects, planInput, stateOf, type TargetState } from "./state.ts";
import { pathTypeAt } from "./work-tree.ts";

export interface RestoreRequest {
  kind: RestoreKind;
  target: Target;
  options: RewindOptions;
  takesBack: string | null;
  /** Changes to revert, if the target alone does not determine the resulting files. */
  merge: Merge | null;
  /** The conversation to continue, if known without looking at the target. */
  chat: ChatPlan | null;
  /** Set for a restore that reverts another one. */
  reverses?: Reversal | undefined;
}

/** A plan and everything needed to apply it. */
export interface PreparedPlan {
  plan: RestorePlan;
  files: FilePlan;
  replaced: Planned["replaced"];
  index: IndexPlan | null;
  /** The tree to restore. */
  tree: string;
  /** True if the .gitattributes files in the work tree match those of `tree`. */
  attributesStay: boolean;
  /** The line-ending settings to write files with; the current ones if undefined. */
  lineEnds: LineEndSettings | undefined;
}

/** The processes and objects of the current snapshot. */
interface Objects extends Pick<PlanObjects, "reader" | "rules"> {
  trees: TreeStore;
  writer: ObjectWriter;
  ahead: Prefetch;
  /** Files written by the restore being reverted. */
  ownWrites: ReadonlySet<string>;
  details: DetailWriter;
  seen: Capture["seen"];
}

const NO_FILES: Planned = {
  files: { write: [], delete: [], chmod: [] },
  replaced: new Map(),
  notUndone: [],
  conflicts: [],
};

export async function buildPlan(
  workspace: Workspace,
  objects: Objects,
  present: Snapshot,
  request: RestoreRequest,
): Promise<PreparedPlan> {
  const { target, options, merge } = request;
  const { trees, reader, rules, ahead } = objects;
  const head = options.chatOnly ? null : headMove(present, target, options);
  // Run in parallel: each waits for its own processes.
  const [merged, elsewhere, chat] = await Promise.all([
    merge && mergeInto(workspace, objects, present, merge),
    ahead.notUndone,
    ahead.chat,
  ]);
  const after = stateAfter(request, present, merged);
  // Untracked files in a newly created work tree belong to the user, so they stay.
  const state = options.everything ? { ...after, holdsUntracked: false } : after;
  let planned = NO_FILES;
  let index: IndexPlan | null = null;
  let attributesStay = false;
  const notUndone: SideEffect[] = [];
  if (!options.chatOnly) {
    const input = await planInput(workspace, { ...ahead, trees, reader, rules }, present, state, options.paths);
    if (options.everything) input.protectedDirectories = [];
    const question = { workspace, trees, present, ownWrites: objects.ownWrites };
    const ignored = merge
      ? await ignoredBefore(question, merge.changes, input.differences)
      : await ignoredAtTarget(question, state, input.differences);
    const asking = { ...question, differences: input.differences, details: objects.details };
    const permissions = merge ? await permissionsBefore(asking, merge.changes) : await permissionsThen(asking, state);
    planned = planFiles({ ...input, ignoredAtTarget: ignored, permissions });
    attributesStay =
      input.skipWorktreePaths.size === 0 && !input.differences.some(({ path }) => isAttributesFile(path));
    const staged = stagedState(workspace, present, state, options, head);
    if (staged) index = await planIndex(trees, present, staged, input.skipWorktreePaths, state.head);
    const left = new Set(planned.notUndone.map(effectPath).filter((path) => path !== null));
    // Effects that concern more than single files come first, because long lists are truncated.
    notUndone.push(...inProgressEffects(workspace, present, request));
    const unseen = changedUnwatched(workspace.root, input, request);
    for (const rows of [elsewhere, unseen])
      notUndone.push(...rows.filter((effect) => !left.has(effectPath(effect) ?? "")));
    notUndone.push(...planned.notUndone);
  }
  const { files } = planned;
  const conflicts = [...planned.conflicts];
  if (merge && merged) {
    const unresolved = mergeConflicts(
      merge,
      merged,
      files,
      await findConflictSource(workspace, objects, merge, merged.conflicts),
    );
    conflicts.push(...unresolved.conflicts);
    notUndone.push(...unresolved.left, ...(await stagedFiles(workspace, trees, present, files)));
  }
  const write = files.write.map(({ path }) => path);
  const chmod = chmodPaths(workspace, files);
  const touched = [...write, ...files.delete, ...chmod];
  const { turns, bringsBack, yours } = await describe(workspace, objects, present, request, touched);
  const plan: RestorePlan = {
    kind: request.kind,
    target,
    options,
    takesBack: request.takesBack,
    reverses: request.reverses,
    merge,
    write,
    create: write.filter((path) => !planned.replaced.has(path)),
    delete: files.delete,
    chmod,
    effects: { files, replaced: planned.replaced },
    turns,
    bringsBack,
    yours,
    notUndone: head ? notUndone.map(besideBranch) : notUndone,
    conflicts,
    restoresIndex: index !== null,
    head,
    chat,
    oversized: request.kind === "fork" ? null : oversizedSafety(workspace, files, objects.seen),
  };
  return { plan, files, replaced: planned.replaced, index, tree: state.work, attributesStay, lineEnds: state.lineEnds };
}

function besideBranch(effect: SideEffect): SideEffect {
  return effect.kind === "command" ? { ...effect, branchMoves: true } : effect;
}

/** Directories that must be created are not listed. */
function chmodPaths(workspace: Workspace, { chmod, directories = [] }: FilePlan): string[] {
  const there = directories.filter(({ path }) => pathTypeAt(workspace.root, path) === "directory");
  return [...chmod.map(({ path }) => path), ...there.map(({ path }) => `${path}/`)];
}

async function mergeInto(workspace: Workspace, objects: Objects, present: Snapshot, merge: Merge): Promise<Reverted> {
  const done = await objects.ahead.mergedInto(present);
  return done ?? revertChanges(workspace, objects, present, merge.changes, merge.markers);
}

function stateAfter({ target, merge }: RestoreRequest, present: Snapshot, merged: Reverted | null): TargetState {
  if (merged) {
    const { work, raw } = merged;
    const notCaptured = merge?.changes.flatMap(({ before }) => before.notCaptured ?? []) ?? [];
    const { head, lineEnds } = present;
    const state = { work, raw, notCaptured, staged: null, index: null, head, holdsUntracked: true };
    return lineEnds ? { ...state, lineEnds } : state;
  }
  if (target.kind === "turns") throw new Error("Turns are taken back by merging.");
  return stateOf(target);
}

/** Merge conflicts. They block the restore unless markers show them in the files. */
function mergeConflicts(
  { shared, markers }: Merge,
  merged: Reverted,
  files: FilePlan,
  by: ReadonlyMap<string, ConflictSource>,
) {
  const submodules = merged.submodules.map((path) => {
    return { kind: "not-captured" as const, path, reason: "submodule" as const, isGone: false };
  });
  const since = ({ path, reason }: Conflict) => {
    const source = by.get(path);
    return { path, reason: source && reason.kind !== "obstacle" ? { ...reason, by: source } : reason };
  };
  const withoutMarkers = [...merged.withoutMarkers.map(since), ...shared];
  const marked = merged.conflicts.filter(({ path }) => !withoutMarkers.some((other) => other.path === path)).map(since);
  const written = files.write.length + files.delete.length + files.chmod.length;
  if (!markers || written === 0) return { conflicts: [...marked, ...withoutMarkers].sort(byPath), left: submodules };
  const left = withoutMarkers.map(({ path, reason }) => ({ kind: "unresolved" as const, path, reason }));
  return {
    conflicts: marked.map((conflict) => ({ ...conflict, markers: true as const })),
    left: [...left, ...submodules],
  };
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}

/** A merge does not change the index, so the plan reports how many of these files are staged. */
async function stagedFiles(
  workspace: Workspace,
  trees: TreeStore,
  present: Snapshot,
  files: FilePlan,
): Promise<SideEffect[]> {
  if (workspace.kind === "private" || !present.head) return [];
  const headTree = await treeOf(workspace, present.head);
  const touched = new Set([...files.delete, ...files.write.map(({ path }) => path)]);
  const staged = (await compareTrees(trees, headTree, present.index)).filter(({ path }) => touched.has(path));
  if (staged.length === 0) return [];
  return [{ kind: "staged", files: staged.length }];
}

/** Restores the staged state only if it means the same: same commit, all files. */
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
