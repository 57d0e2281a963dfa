/**
 * Who wrote which line, from the snapshots: a file is followed through the steps of a work tree, and a line belongs
 * to the turn during which it appeared. Between turns it is the user's.
 */
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { compareTrees, type TreeDifference } from "../git/tree-diff.ts";
import { GITLINK_MODE, SYMLINK_MODE, TREE_MODE, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../steps/model.ts";
import { keptLines, linesOf } from "./line-diff.ts";
import { type Author, type Moment, Turns } from "./turns.ts";

/** By line; null is nobody's turn: the user, or whoever was there before. */
export type Authors = (Author | null)[];

export interface Followed {
  authors: Authors;
  /** Lines from before that went away between turns. */
  removedByUser: number;
}

export interface Ending {
  lines: readonly string[];
  /** Object id, where it is known. */
  blob: string | null;
  /** An ISO time: for content that no step has, those after it don't count. */
  until: string | null;
  /** The commit before it, where it is committed. */
  parent?: string | null;
  /** Known to be committed in this work tree, and not fetched. */
  madeHere?: boolean;
  /** The file there. Given, only what has changed since is told, and older steps are not looked at. */
  base?: string | null;
}

const LARGEST_FILE = 4 * 1024 * 1024;
const SNIFFED = 8_000;
/** A file that appears has the name of one that went away if this part of its lines came from there. */
const ALIKE = 0.5;
const MOST_CANDIDATES = 20;

/** What a file was like from some moment on. */
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

/** A state that a rewind went to may be left again for what was there before; one that a turn began with is not. */
const BEGINNINGS: ReadonlySet<Step["kind"]> = new Set(["turn-start", "baseline"]);

interface Version {
  blob: string | null;
  by: Author | null;
  /** When it was first seen. */
  time: string;
}

export class LineAuthors {
  readonly #reader: ObjectReader;
  readonly #trees: TreeStore;
  readonly #turns: Turns;
  readonly #states = new Map<string, Promise<State[]>>();

  constructor(workspace: Workspace, worktree: string = workspace.worktree) {
    this.#reader = new ObjectReader(workspace);
    this.#trees = new TreeStore(this.#reader, new ObjectWriter(workspace));
    this.#turns = new Turns(workspace, worktree);
  }

  close(): void {
    this.#reader.close();
  }

  get trees(): TreeStore {
    return this.#trees;
  }

  /** The lines of a file, or undefined where it has none to speak of: binary, too large, a link. */
  async linesOf(blob: string): Promise<string[] | undefined> {
    const object = await this.#reader.read(blob);
    return object?.type === "blob" ? textLines(object.data) : undefined;
  }

  /** The object id of a file in a commit. */
  async blobIn(commit: string, path: string): Promise<string | null> {
    const tree = await this.#reader.read(`${commit}^{tree}`);
    return tree ? this.#blobAt(tree.id, path) : null;
  }

  /** Data of an object of any other type. */
  require(name: string, type: string): Promise<Buffer> {
    return this.#reader.require(name, type);
  }

  /** The authors of a file's lines as they are in the end. */
  async follow(path: string, ending: Ending): Promise<Followed> {
    const until = this.#turns.lastMoment(ending.until, ending.madeHere ? (ending.parent ?? null) : null);
    const { base } = ending;
    const states = await (base === undefined ? this.#statesOf(path) : this.#walk(path, { blob: base, until }));
    // A state that was recorded is surer than the time of a commit, which may be anything.
    const known = ending.blob === null ? undefined : states.find(({ blob }) => blob === ending.blob);
    if (known) {
      // What was fetched during a turn is there at its end, and older than the turn.
      const authors = known.authors.map((author) => (author && this.#turns.beganAfter(author, until) ? null : author));
      return { authors, removedByUser: known.removedByUser };
    }
    const before = states.findLast(({ time }) => time <= until) ?? NOTHING;
    const last = this.#turns.choose(this.#turns.runningAt(until), path, null);
    const { authors, kept, removed } = carried(before.lines, before.authors, ending.lines, last);
    const removedByUser = before.removedByUser + (last === null ? removed : 0);
    const isHere = ending.until === null || ending.madeHere || this.#turns.headAt(until) === ending.parent;
    if (last === null || isHere) return { authors, removedByUser };
    // The commit may have been made elsewhere while a turn ran here: then only what the turn is seen to have is its own.
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
    for (const { blob, by, time } of await this.#versions(path, base)) {
      const lines = blob === null ? [] : await this.linesOf(blob);
      if (!lines) continue;
      const reached = states.at(-1);
      // The same content again, by a rewind or a checkout, has the authors that it had.
      const known = blob === null ? undefined : states.find((state) => state.blob === blob);
      const change = reached ? carried(reached.lines, reached.authors, lines, by) : undefined;
      const removed = by === null ? (change?.removed ?? 0) : 0;
      const authors = change?.authors ?? lines.map(() => null);
      const removedByUser = (reached?.removedByUser ?? 0) + removed;
      states.push(known ? { ...known, time } : { blob, time, lines, authors, removedByUser });
    }
    return states;
  }

  /** Oldest first, each different from the one before; back to the turn that began with `base`. */
  async #versions(path: string, base?: Base): Promise<Version[]> {
    const versions: Version[] = [];
    let name = path;
    let later: { moment: Moment; blob: string | null } | undefined;
    for (const moment of this.#turns.moments.toReversed()) {
      const work = moment.step.snapshot.work;
      if (later?.moment.step.snapshot.work === work) {
        later = { moment, blob: later.blob };
        continue;
      }
      let blob = await this.#blobAt(work, name);
      if (later && blob !== later.blob) {
        const by = this.#turns.choose(later.moment.during, name, later.moment.step);
        versions.push({ blob: later.blob, by, time: later.moment.step.time });
        const file = blob === null && later.blob !== null ? { path: name, blob: later.blob } : undefined;
        const origin = file && (await this.#origin(work, later.moment.step.snapshot.work, file));
        if (origin) [name, blob] = [origin.path, origin.blob];
      }
      later = { moment, blob };
      if (base && blob === base.blob && moment.step.time <= base.until && BEGINNINGS.has(moment.step.kind)) break;
    }
    if (later) versions.push({ blob: later.blob, by: null, time: later.moment.step.time });
    return versions.reverse();
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

  /** Of files that went away, the one that the file which came instead of it is made from. */
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
    for (const candidate of nearest(gone, file.path).slice(0, MOST_CANDIDATES)) {
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

/** Undefined for what has no lines: binary, or too large. */
export function textLines(data: Uint8Array): string[] | undefined {
  if (data.length > LARGEST_FILE || data.subarray(0, SNIFFED).includes(0)) return undefined;
  return linesOf(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("utf8"));
}

/** What a comparison says went away. */
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
  by: Author | null,
): { authors: Authors; kept: Int32Array; removed: number } {
  const kept = keptLines(before, after);
  const stayed = new Set(kept);
  const removed = authors.filter((author, i) => author === null && !stayed.has(i)).length;
  return { authors: Array.from(kept, (from) => (from >= 0 ? (authors[from] ?? null) : by)), kept, removed };
}

/** Those of the same file name first. */
function nearest<T extends { path: string }>(files: readonly T[], path: string): T[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return [...files].sort((a, b) => Number(b.path.endsWith(name)) - Number(a.path.endsWith(name)));
}
