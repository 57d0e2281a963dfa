/**
 * Taking changes back out of the present: for each, a three-way merge with the state after it as base, the present as
 * ours and the state before it as theirs. Files are merged as they lie on disk, so that line endings that git does not
 * keep are kept; what can't be decided is a conflict and stays as it is.
 */
import { type MergedTrees, mergeTrees } from "../git/merge-trees.ts";
import type { ObjectWriter } from "../git/objects.ts";
import { compareTrees } from "../git/tree-diff.ts";
import { EXECUTABLE_MODE, FILE_MODE, GITLINK_MODE, type TreeEntry, type TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Conflict } from "./model.ts";
import { parentsOf } from "./plan.ts";
import { entryAt } from "./state.ts";

/** A work tree as a step keeps it: for git, and the exact bytes that git would not give back. */
export interface TreeState {
  work: string;
  raw: string | null;
}

/** What happened to some files between two states. */
export interface Change {
  before: TreeState;
  after: TreeState;
  paths: string[];
  /** Where it came from, as one word: it stands behind a conflict's markers. */
  name: string;
  /** What stands there instead of "before" and that word. */
  label?: string;
}

export interface TakenBack extends TreeState {
  conflicts: Conflict[];
  /** Conflicts that markers can't show; those files stay as they are. */
  unmarked: Conflict[];
  /** Submodules among the paths. */
  submodules: string[];
}

interface Objects {
  trees: TreeStore;
  writer: ObjectWriter;
}

/** `changes` are taken back in the order given: the newest should come first. */
export async function takeBack(
  workspace: Workspace,
  objects: Objects,
  present: TreeState,
  changes: readonly Change[],
  markers: boolean,
): Promise<TakenBack> {
  const exact = new ExactBytes(objects.trees);
  const start = await exact.treeOf(present);
  const found = new Map<string, Conflict>();
  const unmarked = new Map<string, Conflict>();
  const submodules = new Set<string>();
  let ours = start;
  for (const change of changes) {
    const base = await exact.treeOf(change.after);
    const before = await exact.treeOf(change.before);
    const theirs = await without(objects.trees, base, before, change.paths, submodules);
    if (theirs === base) continue;
    const merged = await mergeTrees(workspace, objects.writer, { base, ours, theirs }, nameSides(change));
    const doubts = doubtsIn(merged);
    for (const { path, why, markable } of doubts.values()) {
      // git makes names up where two things want the same one.
      if (!(await isIn(objects.trees, path, [ours, base, theirs]))) continue;
      found.set(path, { path, why });
      if (!markable) unmarked.set(path, { path, why });
    }
    if (doubts.size === 0) {
      ours = merged.tree;
      continue;
    }
    const inDoubt = (path: string) => {
      const doubt = doubts.get(path);
      return doubt !== undefined && !(doubt.markable && markers) ? doubt : undefined;
    };
    const decided = new Map<string, TreeEntry | null>();
    for (const { path, after } of await compareTrees(objects.trees, ours, merged.tree)) {
      if (inDoubt(path)) continue;
      // What comes below a file that stays would take its place.
      const above =
        after &&
        parentsOf(path)
          .map(inDoubt)
          .find((doubt) => doubt !== undefined);
      if (!above) decided.set(path, after);
      else for (const told of [found, unmarked]) told.set(path, { path, why: above.why });
    }
    ours = await objects.trees.apply(ours, decided);
  }
  const state = await exact.split(present, start, ours);
  objects.writer.flush();
  return {
    ...state,
    conflicts: [...found.values()].sort(byPath),
    unmarked: [...unmarked.values()].sort(byPath),
    submodules: [...submodules],
  };
}

async function isIn(trees: TreeStore, path: string, roots: readonly string[]): Promise<boolean> {
  for (const root of roots) if (await entryAt(trees, root, path)) return true;
  return false;
}

/** The state after the change with these paths as they were before it. */
async function without(
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
  // Nobody else changed anything meanwhile, as is usual.
  if (entries.size === differences.length) return before;
  return entries.size === 0 ? after : trees.apply(after, entries);
}

function nameSides({ name, label }: Change): { ours: string; theirs: string } {
  return { ours: "now", theirs: label ?? `before-${name}` };
}

interface Doubt extends Conflict {
  /** Lines with markers around them show what is in question. */
  markable: boolean;
}

const WHY: Record<string, string> = {
  contents: "the same lines were changed since",
  binary: "it is binary and was changed since",
  "modify/delete": "one side removed it, the other changed it",
};

function doubtsIn({ conflicts, undecided }: MergedTrees): Map<string, Doubt> {
  const doubts = new Map<string, Doubt>();
  for (const { kind, paths } of conflicts) {
    for (const path of paths) {
      const known = doubts.get(path);
      const plain = kind === "contents";
      if (plain && known) continue;
      doubts.set(path, { path, why: WHY[kind] ?? "it was moved or replaced since", markable: plain });
    }
  }
  for (const { path, stages } of undecided) {
    const regular = stages.every(({ mode }) => mode === FILE_MODE || mode === EXECUTABLE_MODE);
    const known = doubts.get(path);
    if (!known) doubts.set(path, { path, why: "it was changed since", markable: false });
    else if (!regular) doubts.set(path, { path, why: "it is no plain file, and was changed since", markable: false });
    else if (known.why === WHY["modify/delete"]) {
      const gone = stages.some(({ stage }) => stage === 2)
        ? "it was made then and changed since"
        : "it was deleted since";
      doubts.set(path, { ...known, why: gone });
    }
  }
  return doubts;
}

/** Trees in which every file has its exact bytes, and the way back from them. */
class ExactBytes {
  readonly #trees: TreeStore;
  /** Objects that are exact bytes, with the entry that git has in their place. */
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

  /** The present with what is different in `to`, a tree of exact bytes that began as `from`. */
  async split(present: TreeState, from: string, to: string): Promise<TreeState> {
    if (this.#known.size === 0) return { work: to, raw: null };
    const work = new Map<string, TreeEntry | null>();
    const raw = new Map<string, TreeEntry | null>();
    for (const { path, after } of await compareTrees(this.#trees, from, to)) {
      const had = await entryAt(this.#trees, present.raw, path);
      const clean = after && this.#known.get(after.id);
      const isExact = after !== null && (clean !== undefined || (had !== null && !this.#isGits(after)));
      work.set(path, after && clean ? { mode: after.mode, id: clean.id } : after);
      if (isExact) raw.set(path, { mode: FILE_MODE, id: after.id });
      else if (had) raw.set(path, null);
    }
    return {
      work: await this.#trees.apply(present.work, work),
      raw: raw.size === 0 ? present.raw : await this.#trees.apply(present.raw, raw),
    };
  }

  /** Whether these bytes are what git keeps in place of others. */
  #isGits(entry: TreeEntry): boolean {
    return [...this.#known.values()].some(({ id }) => id === entry.id);
  }
}

function byPath(a: Conflict, b: Conflict): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}
