/**
 * Reverts changes with three-way merges: base is the state after the change, ours the current state, theirs the state
 * before it. Merges files as they are on disk, which keeps line endings that git normalizes. Conflicting files stay
 * unchanged.
 */

import { parentsOf } from "../../base/fs/tree-paths.ts";
import { type MergedTrees, mergeTrees } from "../../git/merge/trees.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import {
  EXECUTABLE_MODE,
  entryAt,
  FILE_MODE,
  GITLINK_MODE,
  type TreeEntry,
  type TreeStore,
} from "../../git/objects/trees.ts";
import type { ObjectWriter } from "../../git/objects/writer.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { NotCaptured } from "../../model/step.ts";
import type { Conflict, MergeConflictKind } from "../types.ts";

/** A work tree as a step stores it: git's tree, and the exact bytes that git would not reproduce. */
export interface TreeState {
  work: string;
  raw: string | null;
}

/** A state with what is known about the files it lacks. */
export interface PastState extends TreeState {
  /** Tree of the tracked files. */
  index?: string;
  /** The ignore rules outside of any tree, as a step names them. */
  ignore?: string | null;
  /** Permissions, as a step names them. */
  permissions?: string | null;
  notCaptured?: NotCaptured[];
}

/** The changes to some files between two states. */
export interface Change {
  before: PastState;
  after: TreeState;
  paths: string[];
  /** The origin as a single word, shown after a conflict marker. */
  name: string;
  /** Replaces "before-<name>" after the conflict marker. */
  label?: string;
}

export interface Reverted extends TreeState {
  conflicts: Conflict[];
  /** Conflicts that markers can't show; these files stay unchanged. */
  withoutMarkers: Conflict[];
  /** Submodules among the paths. */
  submodules: string[];
}

interface Objects {
  trees: TreeStore;
  writer: ObjectWriter;
}

/** Reverts `changes` in the given order, which should be newest first. */
export async function revertChanges(
  workspace: Workspace,
  objects: Objects,
  present: TreeState,
  changes: readonly Change[],
  markers: boolean,
): Promise<Reverted> {
  const exact = new ExactBytes(objects.trees);
  const start = await exact.treeOf(present);
  const found = new Map<string, Conflict>();
  const withoutMarkers = new Map<string, Conflict>();
  const submodules = new Set<string>();
  let ours = start;
  for (const change of changes) {
    const base = await exact.treeOf(change.after);
    const before = await exact.treeOf(change.before);
    const theirs = await withPathsFrom(objects.trees, base, before, change.paths, submodules);
    if (theirs === base) continue;
    const merged = await mergeTrees(workspace, objects.writer, { base, ours, theirs }, nameSides(change));
    const conflicts = conflictsIn(merged);
    for (const conflict of conflicts.values()) {
      const { path, supportsMarkers } = conflict;
      const isNew = conflict.reason.kind === "created-and-changed" && !(await entryAt(objects.trees, base, path));
      // Something later moved the turn's file to this path.
      const reason: Conflict["reason"] = isNew ? { kind: "moved" } : conflict.reason;
      // git invents names if two entries compete for the same path.
      if (!(await isIn(objects.trees, path, [ours, base, theirs]))) continue;
      found.set(path, { path, reason });
      if (!supportsMarkers) withoutMarkers.set(path, { path, reason });
    }
    if (conflicts.size === 0) {
      ours = merged.tree;
      continue;
    }
    const undecided = (path: string) => {
      const conflict = conflicts.get(path);
      return conflict !== undefined && !(conflict.supportsMarkers && markers) ? conflict : undefined;
    };
    const decided = new Map<string, TreeEntry | null>();
    for (const { path, after } of await compareTrees(objects.trees, ours, merged.tree)) {
      if (undecided(path)) continue;
      // A path below a conflicting file would replace that file.
      const above =
        after &&
        parentsOf(path)
          .map(undecided)
          .find((conflict) => conflict !== undefined);
      if (!above) decided.set(path, after);
      else for (const list of [found, withoutMarkers]) list.set(path, { path, reason: above.reason });
    }
    ours = await objects.trees.apply(ours, decided);
  }
  const state = await exact.split(present, start, ours);
  objects.writer.flush();
  return {
    ...state,
    conflicts: [...found.values()].sort(byPath),
    withoutMarkers: [...withoutMarkers.values()].sort(byPath),
    submodules: [...submodules],
  };
}

async function isIn(trees: TreeStore, path: string, roots: readonly string[]): Promise<boolean> {
  for (const root of roots) if (await entryAt(trees, root, path)) return true;
  return false;
}

/** The tree `after`, with these paths taken from `before`. */
async function withPathsFrom(
  trees: TreeStore,
  after: string,
  before: string,
  paths: readonly string[],
  submodules: Set<string>,
): Promise<string> {
  const chosen = new Set(paths);
  const entries = new Map<string, TreeEntry | null>();
  const differences = await compareTrees(trees, after, before);
  for (const { path, before: was, after: wanted } of differences) {
    if (!chosen.has(path)) continue;
    if (was?.mode === GITLINK_MODE || wanted?.mode === GITLINK_MODE) submodules.add(path);
    else entries.set(path, wanted);
  }
  // The common case: nothing else changed.
  if (entries.size === differences.length) return before;
  return entries.size === 0 ? after : trees.apply(after, entries);
}

function nameSides({ name, label }: Change): { ours: string; theirs: string } {
  return { ours: "now", theirs: label ?? `before-${name}` };
}

interface FoundConflict {
  path: string;
  reason: { kind: MergeConflictKind };
  /** True if conflict markers can show it. */
  supportsMarkers: boolean;
}

/** git's names for conflicts. */
const KINDS: Record<string, MergeConflictKind> = {
  contents: "same-lines",
  binary: "binary",
  "modify/delete": "removed-and-changed",
};

function conflictsIn(merged: MergedTrees): Map<string, FoundConflict> {
  const found = new Map<string, FoundConflict>();
  for (const { kind, paths } of merged.conflicts) {
    for (const path of paths) {
      const known = found.get(path);
      const plain = kind === "contents";
      if (plain && known) continue;
      found.set(path, { path, reason: { kind: KINDS[kind] ?? "moved" }, supportsMarkers: plain });
    }
  }
  for (const { path, stages } of merged.undecided) {
    const regular = stages.every(({ mode }) => mode === FILE_MODE || mode === EXECUTABLE_MODE);
    const known = found.get(path);
    if (!known) found.set(path, { path, reason: { kind: "changed" }, supportsMarkers: false });
    else if (!regular) found.set(path, { path, reason: { kind: "not-plain" }, supportsMarkers: false });
    else if (known.reason.kind === "removed-and-changed") {
      const kind = stages.some(({ stage }) => stage === 2) ? "created-and-changed" : "deleted";
      found.set(path, { ...known, reason: { kind } });
    }
  }
  return found;
}

/** Converts states to trees that contain every file's exact bytes, and back. */
class ExactBytes {
  readonly #trees: TreeStore;
  /** Exact-byte blob ids, with git's entry for the same file. */
  readonly #known = new Map<string, TreeEntry>();

  constructor(trees: TreeStore) {
    this.#trees = trees;
  }

  async treeOf({ work, raw }: TreeState): Promise<string> {
    if (raw === null) return work;
    const changes = new Map<string, TreeEntry>();
    for (const { path, after } of await compareTrees(this.#trees, null, raw)) {
      const entry = await entryAt(this.#trees, work, path);
      if (!after || !entry) continue;
      changes.set(path, { mode: entry.mode, id: after.id });
      this.#known.set(after.id, entry);
    }
    return this.#trees.apply(work, changes);
  }

  /** Applies the differences between `from` and `to`, two exact-byte trees, to the current state. */
  async split(present: TreeState, from: string, to: string): Promise<TreeState> {
    if (this.#known.size === 0) return { work: to, raw: null };
    const work = new Map<string, TreeEntry | null>();
    const raw = new Map<string, TreeEntry | null>();
    for (const { path, after } of await compareTrees(this.#trees, from, to)) {
      const had = await entryAt(this.#trees, present.raw, path);
      const clean = after && this.#known.get(after.id);
      const isExact = after !== null && (clean !== undefined || (had !== null && !this.#isGitVersion(after)));
      work.set(path, after && clean ? { mode: after.mode, id: clean.id } : after);
      if (isExact) raw.set(path, { mode: FILE_MODE, id: after.id });
      else if (had) raw.set(path, null);
    }
    return {
      work: await this.#trees.apply(present.work, work),
      raw: raw.size === 0 ? present.raw : await this.#trees.apply(present.raw, raw),
    };
  }

  /** True if this is the version that git stores of a file whose exact bytes differ. */
  #isGitVersion(entry: TreeEntry): boolean {
    return [...this.#known.values()].some(({ id }) => id === entry.id);
  }
}

function byPath(a: Conflict, b: Conflict): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}
