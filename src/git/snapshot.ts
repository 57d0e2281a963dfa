/**
 * The exact state of a work tree as git trees: what is staged, and what lies there. Nothing of the user's is
 * touched: status is read from a private copy of the index, objects are only added.
 */
import { hexDigest } from "../base/digest.ts";
import { ConversionRules, isAttributesFile, storeConverted } from "./conversion.ts";
import { gitFacts } from "./facts.ts";
import { gitLocation } from "./location.ts";
import { ObjectWriter } from "./objects.ts";
import { privateIndex } from "./private-index.ts";
import { WORTH_ADVANCING } from "./private-store.ts";
import { ObjectReader } from "./reader.ts";
import { type GitResult, gitFailure, tryGit } from "./run.ts";
import {
  type CachedSnapshot,
  loadSnapshotCache,
  rememberedTrees,
  saveSnapshotCache,
  treesToRemember,
} from "./stat-cache.ts";
import { ABSENT_MODE, parseStatus, STATUS_ARGUMENTS, type Status } from "./status.ts";
import { GITLINK_MODE, type TreeEntry, TreeStore } from "./trees.ts";
import { type FoundFile, type NotCapturedFile, WorkFiles } from "./work-files.ts";
import type { Workspace } from "./workspace.ts";

export interface Snapshot {
  work: string;
  index: string;
  raw: string | null;
  head: string | null;
  branch: string | null;
  unmerged: { path: string; stages: [number, string, string][] }[];
  intentToAdd: string[];
  notCaptured: NotCapturedFile[];
}

export interface CaptureOptions {
  /** Untracked files above this many bytes are listed as not captured. */
  maxFileSize: number;
  /** Globs of untracked paths to leave out. */
  exclude: readonly string[];
}

/** A snapshot under way: git is already running while the caller does something else. */
export interface Capture {
  readonly writer: ObjectWriter;
  readonly reader: ObjectReader;
  readonly trees: TreeStore;
  /** The last snapshot of this work tree, which this one will be much like; undefined where it is not known. */
  readonly last: Snapshot | undefined;
  /** Whether work in the background pays: on the private index, on packs. Known after everything is saved. */
  readonly wantsUpkeep: boolean;
  /** The snapshot; its objects are in `writer`, to be flushed by the caller. */
  finish(): Promise<Snapshot>;
  /**
   * Lets the next snapshot build on this one. Only after a ref holds its objects (`heldBy`): a cache that names
   * objects which were never written, or may be pruned, would make later snapshots incomplete.
   */
  remember(heldBy: string): void;
  /** Ends the processes. Must be called, whatever happens. */
  close(): void;
}

/** From here on git itself would feel them. */
export const MANY_PACKS = 20;

export function startCapture(workspace: Workspace, options: CaptureOptions): Capture {
  const { args, cwd } = gitLocation(workspace);
  const index = privateIndex(workspace);
  const status = gitStatus([...args, ...index.settings], cwd, index.path);
  const facts = gitFacts(workspace);
  const cache = loadSnapshotCache(workspace);
  const remembered = rememberedTrees(cache);
  const reader = new ObjectReader(workspace, remembered);
  const writer = new ObjectWriter(workspace);
  const trees = new TreeStore(reader, writer);
  let remember: ((heldBy: string) => void) | undefined;
  let read = 0;

  async function finish(): Promise<Snapshot> {
    const result = await status;
    if (result.code !== 0) throw gitFailure(["status"], result.code, result.stderr);
    const parsed = parseStatus(result.stdout);
    const known = await facts;
    const rules = new ConversionRules(workspace, known, unseenAttributes(parsed, known.sparse));
    const files = new WorkFiles(workspace, writer, rules, known.fileMode, options, cache);
    const build = new SnapshotBuild(workspace, parsed, files, trees, reader);
    build.readFiles();
    const key = hexDigest("sha1", result.stdout, JSON.stringify([known, options, files.notCaptured]));
    build.base = cache?.base && cache.base.head === parsed.head ? cache.base : null;
    // Nothing at all is different, and what the cache names is held by a ref: there is nothing to build.
    const same = cache?.key === key && !files.anyChanged ? (cache.result as Snapshot) : undefined;
    if (same && !files.anyRead) return same;
    await files.storeConverted((some) => storeConverted(workspace, index.path, some));
    const snapshot = same ?? (await build.finish());
    read = same ? 0 : parsed.tracked.length + parsed.untracked.length;
    remember = (heldBy) => {
      const [base, kept] = [build.base, treesToRemember(writer.packedTrees, reader.coldTrees, remembered)];
      saveSnapshotCache(workspace, {
        v: 3,
        savedAt: Date.now(),
        heldBy,
        key,
        result: snapshot,
        files: files.toCache(),
        base,
        trees: kept,
      });
    };
    return snapshot;
  }

  // A caller that never finishes must not end the process by an unhandled rejection.
  status.catch(() => {});
  facts.catch(() => {});
  return {
    writer,
    reader,
    trees,
    last: cache?.result as Snapshot | undefined,
    get wantsUpkeep() {
      return index.fresh || writer.packs >= MANY_PACKS || (workspace.kind === "private" && read >= WORTH_ADVANCING);
    },
    finish,
    remember: (heldBy) => remember?.(heldBy),
    close: () => reader.close(),
  };
}

const FAILED_FILTER = /clean filter '([^'\n]+)' failed/;
const MOST_FILTERS = 8;

/**
 * A filter that must not fail (`required`, as LFS sets it up) and does, say because its program is not in an agent's
 * PATH, ends `git status`. Then it is asked again without that demand: the file's own bytes are what matters here.
 */
async function gitStatus(args: readonly string[], cwd: string, index: string): Promise<GitResult> {
  const lenient: string[] = [];
  for (;;) {
    const env = { GIT_INDEX_FILE: index };
    const result = await tryGit([...lenient, ...args, ...STATUS_ARGUMENTS], { cwd, env });
    const filter = result.code === 0 ? undefined : FAILED_FILTER.exec(result.stderr)?.[1];
    if (filter === undefined || lenient.length >= 2 * MOST_FILTERS) return result;
    lenient.push("-c", `filter.${filter}.required=false`);
  }
}

/** Attribute files that git may take from the index, because they are missing or another in the work tree. */
function unseenAttributes(status: Status, sparse: boolean): string {
  const named = ({ path }: { path: string }) => isAttributesFile(path);
  const changed = [...status.tracked.filter(named), ...status.unmerged.filter(named)];
  return changed.length > 0 || sparse ? JSON.stringify([status.head, changed]) : "";
}

/** Also one that is gone; not one whose place a file has taken. */
function isSubmodule({ submodule, workMode }: { submodule: string; workMode: string }): boolean {
  return submodule.startsWith("S") && (workMode === GITLINK_MODE || workMode === ABSENT_MODE);
}

class SnapshotBuild {
  /** The tree of HEAD, where it is known already. */
  base: CachedSnapshot["base"] = null;

  readonly #workspace: Workspace;
  readonly #status: Status;
  readonly #files: WorkFiles;
  readonly #trees: TreeStore;
  readonly #reader: ObjectReader;
  readonly #staged = new Map<string, TreeEntry | null>();
  readonly #unstaged = new Map<string, FoundFile | null>();
  readonly #intentToAdd: string[] = [];

  constructor(workspace: Workspace, status: Status, files: WorkFiles, trees: TreeStore, reader: ObjectReader) {
    this.#workspace = workspace;
    this.#status = status;
    this.#files = files;
    this.#trees = trees;
    this.#reader = reader;
  }

  readFiles(): void {
    for (const change of this.#status.tracked) {
      if (change.staged === "D") this.#staged.set(change.path, null);
      else if (change.staged !== ".") this.#staged.set(change.path, { mode: change.indexMode, id: change.indexId });
      if (change.unstaged === "A") this.#intentToAdd.push(change.path);
      // What is staged may be another form of the file, which alone does not give it back.
      const plain = change.staged === "D" || change.submodule !== "N..." || !this.#files.mayBeConverted(change.path);
      if (change.unstaged === "." && plain) continue;
      if (isSubmodule(change)) this.#files.leaveOut(change.path, "submodule");
      else if (change.unstaged === "D") this.#unstaged.set(change.path, null);
      else this.#readFile(change.path, change.workMode, change.indexId);
    }
    for (const change of this.#status.unmerged) {
      if (isSubmodule(change)) this.#files.leaveOut(change.path, "submodule");
      else this.#readFile(change.path, change.workMode, change.stages.map(([, , id]) => id).join());
    }
    for (const path of this.#status.untracked) {
      if (path.endsWith("/")) this.#files.leaveOut(path.slice(0, -1), "nested-repository");
      else {
        const found = this.#files.readUntracked(path);
        if (found) this.#unstaged.set(path, found);
      }
    }
  }

  /** Tracked: a file that cannot be read keeps what is staged. */
  #readFile(path: string, mode: string, staged: string): void {
    const found = this.#files.readTracked(path, mode, staged);
    if (found !== undefined) this.#unstaged.set(path, found);
  }

  async finish(): Promise<Snapshot> {
    const base = await this.#headTree();
    const index = await this.#trees.apply(base, this.#staged);
    const changes = new Map<string, TreeEntry | null>();
    const raw = new Map<string, TreeEntry>();
    for (const [path, found] of this.#unstaged) {
      if (found === null) changes.set(path, null);
      else {
        changes.set(path, { mode: found.mode, id: found.id });
        if (found.rawId) raw.set(path, { mode: found.mode, id: found.rawId });
      }
    }
    return {
      work: await this.#trees.apply(index, changes),
      index,
      raw: raw.size > 0 ? await this.#trees.apply(null, raw) : null,
      head: this.#workspace.kind === "private" ? null : this.#status.head,
      branch: this.#workspace.kind === "private" ? null : this.#status.branch,
      unmerged: this.#status.unmerged.map(({ path, stages }) => ({ path, stages })),
      intentToAdd: this.#intentToAdd,
      notCaptured: this.#files.notCaptured,
    };
  }

  async #headTree(): Promise<string | null> {
    const { head } = this.#status;
    if (!head) return null;
    if (!this.base) {
      const commit = await this.#reader.require(head, "commit");
      const tree = /^tree ([0-9a-f]+)\n/.exec(commit.toString("latin1", 0, 80))?.[1];
      if (!tree) throw new Error(`The commit ${head} names no tree.`);
      this.base = { head, tree };
    }
    return this.base.tree;
  }
}
