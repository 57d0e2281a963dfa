/**
 * Attributes lines to turns, based on snapshots: follows a file through the steps of a work tree and attributes each
 * line to the turn in which it appeared. Lines that appear between turns belong to the user.
 */

import { ObjectReader } from "../git/objects/reader.ts";
import { compareTrees, type TreeDifference } from "../git/objects/tree-diff.ts";
import { GITLINK_MODE, SYMLINK_MODE, TREE_MODE, TreeStore } from "../git/objects/trees.ts";
import { ObjectWriter } from "../git/objects/writer.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../model/step.ts";
import type { TurnRef } from "../model/turn.ts";
import { keptLines, linesOf } from "./line-diff.ts";
import { type RecordedState, RecordedStates } from "./recorded-states.ts";

/** One entry per line; null means no turn: the user, or an author from before the recording. */
export type Authors = (TurnRef | null)[];

export interface Followed {
  authors: Authors;
  /** The number of earlier lines that were removed between turns. */
  removedByUser: number;
}

export interface Ending {
  lines: readonly string[];
  /** The object id, if known. */
  blob: string | null;
  /** An ISO time: if no step has this content, steps after this time are ignored. */
  until: string | null;
  /** The parent commit, if the content is committed. */
  parent?: string | null;
  /** True if the commit is known to be made in this work tree, not fetched. */
  madeHere?: boolean;
  /** The file in the parent. If given, only changes since then are attributed, and older steps are skipped. */
  base?: string | null;
}

const MAX_FILE = 4 * 1024 * 1024;
const SNIFFED = 8_000;
/** A new file counts as a rename of a deleted one if more than this share of its lines came from there. */
const ALIKE = 0.5;
const MAX_CANDIDATES = 20;

/** The content of a file from some state on. */
interface State extends Followed {
  blob: string | null;
  time: string;
  lines: readonly string[];
}

const NOTHING: Pick<State, "lines" | "authors" | "removedByUser"> = { lines: [], authors: [], removedByUser: 0 };

interface Base {
  blob: string | null;
  until: string;
}

/** Steps at which the walk back may stop. Other kinds may record a state that a rewind restored only for a while. */
const BEGINNINGS: ReadonlySet<Step["kind"]> = new Set(["turn-start", "baseline"]);

/** Maximum number of earlier states to search for the lines of a restored file. */
const MAX_RECALLED_STATES = 50;

interface Version {
  blob: string | null;
  by: TurnRef | null;
  /** When the version was first seen. */
  time: string;
  /** The safety step right before the version, if a restore may have written it. */
  safety: Step | null;
}

export class LineAuthors {
  readonly #reader: ObjectReader;
  readonly #trees: TreeStore;
  readonly #recorded: RecordedStates;
  readonly #states = new Map<string, Promise<State[]>>();
  readonly #workspace: Workspace;
  /** Other work trees, by name; opened only if a restore brought lines from there. */
  readonly #others = new Map<string, LineAuthors>();

  constructor(workspace: Workspace, worktree: string = workspace.worktree) {
    this.#workspace = workspace;
    this.#reader = new ObjectReader(workspace);
    this.#trees = new TreeStore(this.#reader, new ObjectWriter(workspace));
    this.#recorded = new RecordedStates(workspace, worktree);
  }

  close(): void {
    for (const other of this.#others.values()) other.close();
    this.#reader.close();
  }

  get trees(): TreeStore {
    return this.#trees;
  }

  /** Returns the lines of a file, or undefined if it is binary, too large, or a link. */
  async linesOf(blob: string): Promise<string[] | undefined> {
    const object = await this.#reader.read(blob);
    return object?.type === "blob" ? textLines(object.data) : undefined;
  }

  /** Returns the object id of a file in a commit. */
  async blobIn(commit: string, path: string): Promise<string | null> {
    const tree = await this.#reader.read(`${commit}^{tree}`);
    return tree ? this.#blobAt(tree.id, path) : null;
  }

  /** Returns the data of an object of the given type. */
  require(name: string, type: string): Promise<Buffer> {
    return this.#reader.require(name, type);
  }

  /** Attributes the lines of the file's final content. */
  async follow(path: string, ending: Ending): Promise<Followed> {
    const until = this.#recorded.lastState(ending.until, ending.madeHere ? (ending.parent ?? null) : null);
    const { base } = ending;
    const states = await (base === undefined ? this.#statesOf(path) : this.#walk(path, { blob: base, until }));
    // A recorded state is more reliable than a commit's time, which can be arbitrary.
    const known = ending.blob === null ? undefined : states.find(({ blob }) => blob === ending.blob);
    if (known) {
      // Content fetched during a turn is present at the turn's end, but is older than the turn.
      const authors = known.authors.map((author) =>
        author && this.#recorded.beganAfter(author, until) ? null : author,
      );
      return { authors, removedByUser: known.removedByUser };
    }
    const before = states.findLast(({ time }) => time <= until) ?? NOTHING;
    const last = this.#recorded.authorAfter(until, path);
    const change = carried(before.lines, before.authors, ending.lines, last);
    const { kept, removed } = change;
    const safety = this.#recorded.safetyBefore(until);
    const authors = safety ? await this.#recall(path, states, ending.lines, change, safety) : change.authors;
    const removedByUser = before.removedByUser + (last === null && !safety ? removed : 0);
    const isHere = ending.until === null || ending.madeHere || this.#recorded.headAt(until) === ending.parent;
    if (last === null || isHere) return { authors, removedByUser };
    // The commit may have been made elsewhere during a local turn: attribute only lines that the turn is seen to have.
    const next = states.find(({ time }) => time > until);
    const seen = next ? carried(next.lines, next.authors, ending.lines, null).authors : [];
    const isOwn = (i: number) => (kept[i] ?? -1) >= 0 || seen[i]?.turn === last.turn;
    return { authors: authors.map((author, i) => (isOwn(i) ? author : null)), removedByUser };
  }

  #statesOf(path: string): Promise<State[]> {
    let states = this.#states.get(path);
    if (states === undefined) {
      states = this.#walk(path);
      this.#states.set(path, states);
    }
    return states;
  }

  async #walk(path: string, base?: Base): Promise<State[]> {
    const states: State[] = [];
    const { versions, start } = await this.#versions(path, base);
    for (const { blob, by, time, safety } of versions) {
      const lines = blob === null ? [] : await this.linesOf(blob);
      if (!lines) continue;
      const reached = states.at(-1);
      // Content that returns through a rewind or a checkout keeps its authors.
      const known = blob === null ? undefined : states.find((state) => state.blob === blob);
      const change = reached ? carried(reached.lines, reached.authors, lines, by) : undefined;
      const removed = by === null && !safety && time > start ? (change?.removed ?? 0) : 0;
      const authors = change
        ? safety && !known
          ? await this.#recall(path, states, lines, change, safety)
          : change.authors
        : lines.map(() => null);
      const removedByUser = (reached?.removedByUser ?? 0) + removed;
      states.push(known ? { ...known, time } : { blob, time, lines, authors, removedByUser });
    }
    return states;
  }

  /**
   * Attributes a file that a restore may have written: a line that existed in an earlier state, or in the fork whose
   * work was taken, keeps its author.
   */
  async #recall(
    path: string,
    states: readonly State[],
    lines: readonly string[],
    { authors, kept }: Pick<ReturnType<typeof carried>, "authors" | "kept">,
    safety: Step,
  ): Promise<Authors> {
    const recalled = [...authors];
    const unknown = new Set(lines.keys().filter((i) => (kept[i] ?? -1) < 0));
    const recallFrom = (state: State) => {
      if (unknown.size === 0) return;
      const from = keptLines(state.lines, lines);
      for (const i of unknown) {
        const line = from[i] ?? -1;
        if (line < 0) continue;
        recalled[i] = state.authors[line] ?? null;
        unknown.delete(i);
      }
    };
    for (const state of states.slice(-MAX_RECALLED_STATES).toReversed()) recallFrom(state);
    if (unknown.size === 0) return recalled;
    for (const worktree of this.#recorded.takenAt(safety)) {
      const taken = (await this.#authorsOf(worktree).#statesOf(path)).findLast(({ time }) => time <= safety.time);
      if (taken) recallFrom(taken);
    }
    return recalled;
  }

  #authorsOf(worktree: string): LineAuthors {
    const known = this.#others.get(worktree);
    if (known) return known;
    const authors = new LineAuthors(this.#workspace, worktree);
    this.#others.set(worktree, authors);
    return authors;
  }

  /**
   * Returns distinct consecutive versions, oldest first, going back to the turn that began with `base`, at `start`. If
   * files were restored since, the lines may come from further back.
   */
  async #versions(path: string, base?: Base): Promise<{ versions: Version[]; start: string }> {
    const versions: Version[] = [];
    let name = path;
    let start = "";
    let isRestored = false;
    let later: { state: RecordedState; blob: string | null } | undefined;
    for (const state of this.#recorded.all.toReversed()) {
      const work = state.step.snapshot.work;
      isRestored ||= state.step.kind === "safety";
      if (later?.state.step.snapshot.work === work) {
        later = { state, blob: later.blob };
        continue;
      }
      let blob = await this.#blobAt(work, name);
      if (later && blob !== later.blob) {
        const by = this.#recorded.authorBefore(later.state, name);
        const safety = state.step.kind === "safety" ? state.step : null;
        versions.push({ blob: later.blob, by, time: later.state.step.time, safety });
        const file = blob === null && later.blob !== null ? { path: name, blob: later.blob } : undefined;
        const origin = file && (await this.#origin(work, later.state.step.snapshot.work, file));
        if (origin) [name, blob] = [origin.path, origin.blob];
      }
      later = { state, blob };
      if (base && blob === base.blob && state.step.time <= base.until && BEGINNINGS.has(state.step.kind)) {
        start ||= state.step.time;
        if (!isRestored) break;
      }
    }
    if (later) versions.push({ blob: later.blob, by: null, time: later.state.step.time, safety: null });
    return { versions: versions.reverse(), start };
  }

  async #blobAt(tree: string, path: string): Promise<string | null> {
    let id = tree;
    const parts = path.split("/");
    for (const [index, part] of parts.entries()) {
      const entry = (await this.#trees.read(id)).get(part);
      if (!entry) return null;
      const isLast = index === parts.length - 1;
      if (isLast) return entry.mode === TREE_MODE || entry.mode === SYMLINK_MODE ? null : entry.id;
      if (entry.mode !== TREE_MODE) return null;
      id = entry.id;
    }
    return null;
  }

  /** Returns the deleted file that a new file was renamed from. */
  async renamedFrom<T extends { path: string; blob: string }>(
    gone: readonly T[],
    file: { path: string; blob: string },
  ): Promise<T | undefined> {
    const same = gone.find(({ blob }) => blob === file.blob);
    if (same) return same;
    const lines = gone.length === 0 ? undefined : await this.linesOf(file.blob);
    if (!lines || lines.length === 0) return undefined;
    let best: T | undefined;
    let bestShare = ALIKE;
    for (const candidate of nearest(gone, file.path).slice(0, MAX_CANDIDATES)) {
      const old = await this.linesOf(candidate.blob);
      if (!old || old.length === 0) continue;
      const share = keptLines(old, lines).filter((from) => from >= 0).length / Math.max(old.length, lines.length);
      if (share > bestShare) [best, bestShare] = [candidate, share];
    }
    return best;
  }

  async #origin(before: string, after: string, file: { path: string; blob: string }) {
    return this.renamedFrom(goneFiles(await compareTrees(this.#trees, before, after)), file);
  }
}

/** Returns undefined for a file that is binary or too large. */
export function textLines(data: Uint8Array): string[] | undefined {
  if (data.length > MAX_FILE || data.subarray(0, SNIFFED).includes(0)) return undefined;
  return linesOf(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("utf8"));
}

/** Returns the deleted files of a comparison. */
export function goneFiles(differences: readonly TreeDifference[]): { path: string; blob: string }[] {
  return differences.flatMap(({ path, status, before }) =>
    status === "deleted" && before && before.mode !== SYMLINK_MODE && before.mode !== GITLINK_MODE
      ? [{ path, blob: before.id }]
      : [],
  );
}

function carried(
  before: readonly string[],
  authors: Authors,
  after: readonly string[],
  by: TurnRef | null,
): { authors: Authors; kept: Int32Array; removed: number } {
  const kept = keptLines(before, after);
  const stayed = new Set(kept);
  const removed = authors.filter((author, i) => author === null && !stayed.has(i)).length;
  return { authors: Array.from(kept, (from) => (from >= 0 ? (authors[from] ?? null) : by)), kept, removed };
}

/** Files with the same name come first. */
function nearest<T extends { path: string }>(files: readonly T[], path: string): T[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return [...files].sort((a, b) => Number(b.path.endsWith(name)) - Number(a.path.endsWith(name)));
}
