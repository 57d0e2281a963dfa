/** Builds the trees of a snapshot from git's status and the files of the work tree. */
import type { IncludedFiles } from "../ignored/included.ts";
import type { CachedSnapshot } from "../index/stat-cache.ts";
import type { TrackedFile } from "../inexact/state.ts";
import type { ObjectReader } from "../objects/reader.ts";
import { entryAt, GITLINK_MODE, type TreeEntry, type TreeStore } from "../objects/trees.ts";
import type { Workspace } from "../workspace.ts";
import { FoundChanges, type FoundFile, joined, type WorkFiles } from "./changed-files.ts";
import type { LargeFile } from "./large-files.ts";
import type { Snapshot } from "./snapshot.ts";
import { ABSENT_MODE, type Status } from "./status.ts";

/** True for a deleted submodule, false if a file replaced it. */
function isSubmodule({ submodule, workMode }: { submodule: string; workMode: string }): boolean {
  return submodule.startsWith("S") && (workMode === GITLINK_MODE || workMode === ABSENT_MODE);
}

export class SnapshotBuild {
  /** The tree of HEAD, if already known. */
  base: CachedSnapshot["base"] = null;

  readonly #workspace: Workspace;
  readonly #status: Status;
  readonly #files: WorkFiles;
  readonly #trees: TreeStore;
  readonly #privateTrees: TreeStore;
  readonly #reader: ObjectReader;
  readonly #staged = new Map<string, TreeEntry | null>();
  readonly #unstaged = new Map<string, FoundFile | null>();
  readonly #inexact = new Map<string, FoundFile>();
  readonly #included = new Map<string, FoundFile>();
  readonly #intentToAdd: string[] = [];

  constructor(
    workspace: Workspace,
    status: Status,
    files: WorkFiles,
    trees: TreeStore,
    privateTrees: TreeStore,
    reader: ObjectReader,
  ) {
    this.#workspace = workspace;
    this.#status = status;
    this.#files = files;
    this.#trees = trees;
    this.#privateTrees = privateTrees;
    this.#reader = reader;
  }

  /** Reads ignored files that the user chose to include. `readFiles` reads those that git does not ignore. */
  readIncluded(included: IncludedFiles | null): void {
    if (!included || included.paths.length === 0) return;
    const untracked = new Set(this.#status.untracked);
    for (const path of included.paths) {
      const found = untracked.has(path) ? undefined : this.#files.readIncluded(path);
      if (found) this.#included.set(path, found);
    }
    for (const path of included.tooMany) if (!untracked.has(path)) this.#files.leaveOut(path, "too-many");
  }

  readFiles(always: readonly string[]): void {
    for (const path of always) {
      const found = this.#files.readAlways(path);
      if (found) this.#unstaged.set(path, found);
    }
    for (const change of this.#status.tracked) {
      if (change.staged === "D") this.#staged.set(change.path, null);
      else if (change.staged !== ".") this.#staged.set(change.path, { mode: change.indexMode, id: change.indexId });
      if (change.unstaged === "A") this.#intentToAdd.push(change.path);
      // The staged blob may be a converted form that does not reproduce the file's exact bytes.
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
        const found = this.#unstaged.has(path) ? undefined : this.#files.readUntracked(path);
        if (found) this.#unstaged.set(path, found);
      }
    }
  }

  /** Reads large tracked files, which `git status` skips. */
  readLarge(files: readonly LargeFile[], fileMode: boolean): void {
    for (const { path, mode, id, clean } of files) {
      if (clean !== null && this.#files.isMarked(path, clean)) continue;
      this.#readFile(path, fileMode ? "" : mode, id);
    }
  }

  /** Reads files that git takes for unchanged because it compares whole seconds. */
  readRewritten(files: readonly TrackedFile[], fileMode: boolean): void {
    if (files.length === 0) return;
    // What git sees has been read, or named as not captured.
    const changed = this.#status.tracked.filter(({ unstaged }) => unstaged !== ".");
    const all = [...changed, ...this.#status.unmerged, ...this.#files.notCaptured];
    const known = new Set(all.map(({ path }) => path));
    for (const { path, mode, id } of files)
      if (!this.#unstaged.has(path) && !known.has(path)) this.#readFile(path, fileMode ? "" : mode, id);
  }

  /** Reads files that git considers unchanged although a checkout would write different bytes. */
  readInexact(files: readonly TrackedFile[]): void {
    for (const file of files) {
      const found = this.#unstaged.has(file.path) ? undefined : this.#files.readUnchanged(file);
      if (found) this.#inexact.set(file.path, found);
    }
  }

  /** Reads a tracked file. A file that cannot be read keeps its staged content. */
  #readFile(path: string, mode: string, staged: string): void {
    const found = this.#files.readTracked(path, mode, staged);
    if (found !== undefined) this.#unstaged.set(path, found);
  }

  async finish(): Promise<Snapshot> {
    const base = await this.#headTree();
    const index = await this.#trees.apply(base, this.#staged);
    const shared = new FoundChanges();
    const own = new FoundChanges();
    for (const [path, found] of this.#included)
      if (!(await entryAt(this.#trees, index, path))) (found.private ? own : shared).add(path, found);
    for (const [path, found] of this.#unstaged) (found?.private ? own : shared).add(path, found);
    for (const [path, found] of this.#inexact) (found.private ? own : shared).addExact(path, found);
    const state = { work: await this.#trees.apply(index, shared.work), raw: await shared.rawTree(this.#trees, null) };
    const whole = own.isEmpty ? state : await this.#withPrivate(state, own);
    return {
      ...whole,
      ...(whole === state ? {} : { shared: state }),
      index,
      head: this.#workspace.kind === "private" ? null : this.#status.head,
      branch: this.#workspace.kind === "private" ? null : this.#status.branch,
      unmerged: this.#status.unmerged.map(({ path, stages }) => ({ path, stages })),
      intentToAdd: this.#intentToAdd,
      notCaptured: joined(this.#files.notCaptured),
    };
  }

  /**
   * Adds the private files. Writes every parent tree of a private file to the private store, never to the repository.
   */
  async #withPrivate(shared: { work: string; raw: string | null }, own: FoundChanges) {
    const trees = this.#privateTrees;
    return { work: await trees.apply(shared.work, own.work), raw: await own.rawTree(trees, shared.raw) };
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
