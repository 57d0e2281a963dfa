/**
 * Separates the changes of a session's turns from the changes that the user made before, between and after them: merges
 * the turns' changes onto HEAD and onto the index. Leaves out a file that does not merge cleanly.
 */
import { parentOf } from "../base/fs/path-bytes.ts";
import { mergeLines } from "../git/merge/lines.ts";
import { type MergedTrees, mergeTrees } from "../git/merge/trees.ts";
import type { ObjectReader } from "../git/objects/reader.ts";
import {
  EXECUTABLE_MODE,
  entryAt,
  FILE_MODE,
  TREE_MODE,
  type TreeEntry,
  type TreeStore,
} from "../git/objects/trees.ts";
import type { ObjectWriter } from "../git/objects/writer.ts";
import type { Snapshot } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";

/** One turn: the work tree before and after it, and the files that it changed. */
export interface TurnChange {
  before: string;
  after: string;
  paths: readonly string[];
}

export interface LeftFile {
  path: string;
  why: string;
}

export interface SeparatedChanges {
  /** The commit's entry for each path; null if the commit deletes the file. */
  commit: Map<string, TreeEntry | null>;
  /** The index entry for each path after the commit: the commit's entry with the user's staged changes. */
  staged: Map<string, TreeEntry | null>;
  left: LeftFile[];
}

interface Objects {
  trees: TreeStore;
  reader: ObjectReader;
  writer: ObjectWriter;
}

type Entries = Map<string, TreeEntry | null>;

const WITH_OTHERS = "its changes can't be separated from yours";
const CHANGED_SINCE = "it has been changed since the turn";
const STAGED = "its changes can't be separated from your staged changes";

/** `head` is the tree of HEAD; `turns` are oldest first; `paths` are the files that may be committed. */
export async function separateChanges(
  workspace: Workspace,
  objects: Objects,
  head: string,
  present: Snapshot,
  turns: readonly TurnChange[],
  paths: readonly string[],
): Promise<SeparatedChanges> {
  const separation = new Separation(workspace, objects, head, present, paths);
  for (const turn of turns) await separation.add(turn);
  await separation.leaveWhatIsGone();
  return separation.result();
}

class Separation {
  readonly #workspace: Workspace;
  readonly #objects: Objects;
  readonly #head: string;
  readonly #present: Snapshot;
  readonly #open: Set<string>;
  readonly #committed: Entries = new Map();
  readonly #left = new Map<string, string>();

  constructor(workspace: Workspace, objects: Objects, head: string, present: Snapshot, paths: readonly string[]) {
    this.#workspace = workspace;
    this.#objects = objects;
    this.#head = head;
    this.#present = present;
    this.#open = new Set(paths);
    for (const { path } of present.unmerged) if (this.#open.has(path)) this.#leave(path, "it is in conflict");
  }

  /** Merges one turn's changes into the commit so far. */
  async add({ before, after, paths }: TurnChange): Promise<void> {
    const own = paths.filter((path) => this.#open.has(path));
    const [base, theirs] = [await this.#entries(before, own), await this.#entries(after, own)];
    const ours: Entries = new Map();
    for (const path of own) ours.set(path, await this.#soFar(path));
    // The usual case: only the turn changed these files.
    if (own.every((path) => same(ours.get(path), base.get(path)))) {
      for (const path of own) this.#committed.set(path, theirs.get(path) ?? null);
      return;
    }
    // Merge all of the turn's files together, so that git detects renames.
    const merged = await this.#merge(base, ours, theirs);
    for (const path of own) {
      const entry = merged.get(path);
      if (entry === undefined) this.#leave(path, WITH_OTHERS);
      else this.#committed.set(path, entry);
    }
  }

  /** Leaves out changes that the user has since reverted or edited. */
  async leaveWhatIsGone(): Promise<void> {
    const changed = await this.#changed();
    const now = await this.#entries(this.#present.work, changed);
    if (changed.every((path) => same(now.get(path), this.#committed.get(path)))) return;
    const head = await this.#entries(this.#head, changed);
    const merged = await this.#merge(head, now, only(this.#committed, changed));
    // Merging the commit's changes into the work tree changes nothing if they are still there.
    for (const path of changed) {
      const entry = merged.get(path);
      if (entry === undefined || !same(entry, now.get(path))) this.#leave(path, CHANGED_SINCE);
    }
  }

  async result(): Promise<SeparatedChanges> {
    const staged = await this.#staged(await this.#changed());
    await this.#leaveRelated();
    const commit: Entries = new Map();
    for (const path of await this.#changed()) commit.set(path, this.#committed.get(path) ?? null);
    const left = [...this.#left].map(([path, why]) => ({ path, why }));
    return { commit, staged: only(staged, [...commit.keys()]), left: left.sort((a, b) => (a.path < b.path ? -1 : 1)) };
  }

  /** The new index entries: the index must differ from the new HEAD as it differed from the old HEAD. */
  async #staged(changed: readonly string[]): Promise<Entries> {
    const [head, index] = [await this.#entries(this.#head, changed), await this.#entries(this.#present.index, changed)];
    const isFollowing = (path: string) =>
      same(index.get(path), head.get(path)) || same(index.get(path), this.#committed.get(path));
    if (changed.every(isFollowing)) return only(this.#committed, changed);
    const merged = await this.#merge(head, index, only(this.#committed, changed));
    for (const path of changed) if (!merged.has(path)) this.#leave(path, STAGED);
    return merged;
  }

  /** Leaves out files related to those already left out: a file and a directory of the same name, or a renamed file. */
  async #leaveRelated(): Promise<void> {
    const left = [...this.#left.keys()];
    const above = new Set(left.flatMap(parents));
    const isNew = await Promise.all(left.map(async (path) => (await this.#entry(this.#head, path)) === null));
    const mayBeMoved = isNew.includes(true);
    for (const path of [...this.#open]) {
      const isNeighbor = above.has(path) || parents(path).some((parent) => this.#left.has(parent));
      const isGone = this.#committed.has(path) && this.#committed.get(path) === null;
      if (isNeighbor || (isGone && mayBeMoved)) this.#leave(path, WITH_OTHERS);
    }
  }

  #leave(path: string, why: string): void {
    this.#left.set(path, why);
    this.#open.delete(path);
    this.#committed.delete(path);
  }

  async #soFar(path: string): Promise<TreeEntry | null> {
    return this.#committed.get(path) ?? (this.#committed.has(path) ? null : this.#entry(this.#head, path));
  }

  async #changed(): Promise<string[]> {
    const changed: string[] = [];
    for (const [path, entry] of this.#committed)
      if (!same(entry, await this.#entry(this.#head, path))) changed.push(path);
    return changed;
  }

  async #entries(tree: string, paths: readonly string[]): Promise<Entries> {
    const entries: Entries = new Map();
    for (const path of paths) entries.set(path, await this.#entry(tree, path));
    return entries;
  }

  async #entry(tree: string, path: string): Promise<TreeEntry | null> {
    const entry = await entryAt(this.#objects.trees, tree, path);
    return entry?.mode === TREE_MODE ? null : entry;
  }

  /** Merges only these paths. The result omits a path that cannot be merged. */
  async #merge(base: Entries, ours: Entries, theirs: Entries): Promise<Entries> {
    const { trees, writer } = this.#objects;
    const [baseTree, oursTree, theirsTree] = [await this.#tree(base), await this.#tree(ours), await this.#tree(theirs)];
    const sides = { base: baseTree, ours: oursTree, theirs: theirsTree };
    const found = await mergeTrees(this.#workspace, writer, sides, { ours: "yours", theirs: "turn" });
    const undecided = undecidedPaths(found);
    const merged: Entries = new Map();
    for (const path of base.keys()) {
      const entry = undecided.has(path)
        ? await this.#mergeLines(base.get(path), ours.get(path), theirs.get(path))
        : await entryAt(trees, found.tree, path);
      if (entry !== undefined && entry?.mode !== TREE_MODE) merged.set(path, entry);
    }
    return merged;
  }

  /** Merges line by line, since git treats changes to adjacent lines as a conflict. */
  async #mergeLines(...sides: (TreeEntry | null | undefined)[]): Promise<TreeEntry | undefined> {
    const [base, ours, theirs] = sides;
    if (!base || !ours || !theirs || sides.some((side) => side?.mode !== base.mode || !isRegular(base)))
      return undefined;
    const { reader, writer } = this.#objects;
    const texts = {
      base: await reader.require(base.id, "blob"),
      ours: await reader.require(ours.id, "blob"),
      theirs: await reader.require(theirs.id, "blob"),
    };
    const content = await mergeLines(this.#workspace, texts);
    return content && { mode: base.mode, id: writer.add("blob", content) };
  }

  #tree(entries: Entries): Promise<string> {
    const there = [...entries].filter((pair): pair is [string, TreeEntry] => pair[1] !== null);
    return this.#objects.trees.apply(null, new Map(there));
  }
}

function undecidedPaths({ conflicts, undecided }: MergedTrees): Set<string> {
  return new Set([...conflicts.flatMap(({ paths }) => paths), ...undecided.map(({ path }) => path)]);
}

function isRegular({ mode }: TreeEntry): boolean {
  return mode === FILE_MODE || mode === EXECUTABLE_MODE;
}

function only(entries: Entries, paths: readonly string[]): Entries {
  return new Map(paths.map((path) => [path, entries.get(path) ?? null]));
}

function same(a: TreeEntry | null | undefined, b: TreeEntry | null | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

function parents(path: string): string[] {
  const above: string[] = [];
  for (let at = parentOf(path); at !== "."; at = parentOf(at)) above.push(at);
  return above;
}
