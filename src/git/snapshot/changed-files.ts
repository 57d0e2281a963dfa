/** Reads changed files of a work tree into objects, and reuses cached ids of files that have not changed since. */
import { type BigIntStats, readFileSync, readlinkSync } from "node:fs";
import { isAbsence } from "../../base/errors.ts";
import { pathMatcher } from "../../base/fs/glob.ts";
import { onDisk, parentOf } from "../../base/fs/path-bytes.ts";
import type { Conversion, ConversionRules } from "../conversion/conversion.ts";
import { type CachedFile, type CachedSnapshot, fullMarkOf, markOf, statOf } from "../index/stat-cache.ts";
import type { TrackedFile } from "../inexact/state.ts";
import { EXECUTABLE_MODE, FILE_MODE, SYMLINK_MODE, type TreeEntry, type TreeStore } from "../objects/trees.ts";
import type { ObjectWriter } from "../objects/writer.ts";
import type { Workspace } from "../workspace.ts";
import { kindOf, type PermissionNotes, recordableBits } from "./permissions.ts";

export interface FoundFile {
  mode: string;
  /** Empty until the file is stored, and if storing fails. */
  id: string;
  /** Blob with the file's exact bytes, if git's conversions would not reproduce them. */
  rawId: string | null;
  /** Other users may not read the file, so its content belongs in the private store. */
  private: boolean;
}

/** The writers for file contents: the repository's, and the private store's for files that other users may not read. */
export interface ContentWriters {
  shared: ObjectWriter;
  /** The same writer as `shared` if the whole repository is private. */
  private: ObjectWriter;
}

/** Stores files in git's converted form; private files go to the private store. */
type StoreConverted = (files: Map<string, Buffer>, isPrivate: boolean) => Promise<Conversion>;

/** Stores a large file; undefined if it ran out of time. */
type StoreStreamed = (file: string | Buffer, isPrivate: boolean, timeoutMs: number) => Promise<string | undefined>;

export interface NotCapturedFile {
  path: string;
  why: "too-large" | "too-many" | "no-time" | "nested-repository" | "submodule" | "unreadable" | "special-file";
}

export interface ReadOptions {
  /** Size limit of untracked files, in bytes. */
  maxFileSize: number;
  /** Size limit of tracked files, in bytes. */
  maxTrackedSize: number;
  exclude: readonly string[];
  /** True for files that are private regardless of their mode. */
  isIncluded: (path: string) => boolean;
  /** Time at which reading must end, as `performance.now()`. */
  deadline: number;
}

/** Included ignored files are settings or keys, which are small. */
const MAX_INCLUDED_BYTES = 1_000_000;
/** From this size on, git stores the file straight from disk instead of from memory. */
const STREAMED_BYTES = 8n << 20n;

/** A file as the snapshot found it. */
export interface SeenFile {
  stat: BigIntStats;
  /** The id of the bytes that were read just then; null if they were not read, or git may have converted them. */
  readId: string | null;
  /** The id of the staged blob; empty if the file is untracked. */
  staged: string;
}

export class WorkFiles {
  readonly notCaptured: NotCapturedFile[] = [];
  /** The files that differ from the index, by path. */
  readonly seen = new Map<string, SeenFile>();
  /** Whether any file differs from the cache. */
  anyChanged = false;
  /** Whether any file was read, so that saving a new cache spares the next snapshot that read. */
  anyRead = false;

  readonly #root: string;
  readonly #writers: ContentWriters;
  readonly #rules: ConversionRules;
  readonly #fileMode: boolean;
  readonly #permissions: PermissionNotes;
  readonly #options: ReadOptions;
  readonly #excluded: (path: string) => boolean;
  readonly #before: Record<string, CachedFile>;
  readonly #after: Record<string, CachedFile> = Object.create(null);
  readonly #toStream: { path: string; found: FoundFile; mark: string | undefined }[] = [];
  readonly #toConvert = new Map<string, { content: Buffer; found: FoundFile; mark: string | undefined }>();

  constructor(
    workspace: Workspace,
    writers: ContentWriters,
    rules: ConversionRules,
    fileMode: boolean,
    permissions: PermissionNotes,
    options: ReadOptions,
    cache: CachedSnapshot | undefined,
  ) {
    this.#root = workspace.root;
    this.#writers = writers;
    this.#rules = rules;
    this.#fileMode = fileMode;
    this.#permissions = permissions;
    this.#options = options;
    this.#excluded = pathMatcher(options.exclude);
    this.#before = cache?.files ?? {};
  }

  /** Whether the file still has this mark, that is, has not changed since. */
  isMarked(path: string, mark: string): boolean {
    try {
      const stat = statOf(onDisk(this.#root, path));
      return stat !== undefined && fullMarkOf(stat) === mark;
    } catch {
      return false;
    }
  }

  leaveOut(path: string, why: NotCapturedFile["why"]): void {
    this.notCaptured.push({ path, why });
  }

  /** Whether git may have stored the file in a converted form. */
  mayBeConverted(path: string): boolean {
    return this.#rules.reaches(path);
  }

  /**
   * Returns null if the file is deleted, undefined if it cannot be read. `mode` and `staged` come from git's status.
   */
  readTracked(path: string, mode: string, staged: string): FoundFile | null | undefined {
    return this.#read(path, mode, staged, this.#options.maxTrackedSize);
  }

  /** Reads the exact bytes of a file that git considers unchanged; undefined if they cannot be stored. */
  readUnchanged({ path, mode, id }: TrackedFile): FoundFile | undefined {
    const place = onDisk(this.#root, path);
    try {
      const readAt = Date.now();
      const stat = statOf(place);
      if (!stat?.isFile() || stat.size >= STREAMED_BYTES) return undefined;
      const mark = this.#markOf(path, stat, readAt, id);
      this.#permissions.add(path, kindOf({ mode }), recordableBits(stat));
      const isPrivate = this.#isPrivate(path, stat);
      const known = this.#before[path];
      if (mark && known?.mark === mark && known.mode === mode && (known.private ?? false) === isPrivate) {
        this.#after[path] = known;
        return { mode, id: known.id, rawId: known.rawId, private: isPrivate };
      }
      const found: FoundFile = { mode, id, rawId: null, private: isPrivate };
      const content = readFileSync(place);
      const writer = this.#writerFor(found);
      found.rawId = writer.idOf("blob", content);
      this.anyRead = true;
      if (known?.rawId !== found.rawId || known.id !== id || (known.private ?? false) !== isPrivate) {
        this.anyChanged = true;
        // The repository already has the staged blob.
        if (found.rawId !== id) writer.add("blob", content);
      }
      this.#remember(path, mark, found);
      return found;
    } catch {
      return undefined;
    }
  }

  readUntracked(path: string): FoundFile | undefined {
    if (this.#excluded(path)) return undefined;
    return this.#read(path, undefined, "", this.#options.maxFileSize) ?? undefined;
  }

  /** Reads an ignored file that the user chose to include. */
  readIncluded(path: string): FoundFile | undefined {
    return this.#read(path, undefined, "", MAX_INCLUDED_BYTES) ?? undefined;
  }

  /** Reads an untracked file regardless of excludes and size limits. */
  readAlways(path: string): FoundFile | undefined {
    return this.#read(path, undefined, "", Number.POSITIVE_INFINITY) ?? undefined;
  }

  /** Lets git store the files that it would convert. */
  async storeConverted(store: StoreConverted): Promise<void> {
    if (this.#toConvert.size === 0) return;
    for (const isPrivate of [false, true]) {
      const some = [...this.#toConvert].filter(([, { found }]) => found.private === isPrivate);
      if (some.length === 0) continue;
      const { stored, hung } = await store(new Map(some.map(([path, { content }]) => [path, content])), isPrivate);
      for (const [path, { content, found, mark }] of some) {
        if (hung.has(path)) {
          this.leaveOut(path, "no-time");
          continue;
        }
        const converted = stored.get(path);
        const rawId = converted && !converted.lossy ? null : this.#writerFor(found).add("blob", content);
        found.id = converted?.entry.id ?? rawId ?? "";
        found.rawId = rawId;
        if (converted) this.#remember(path, mark, found);
      }
    }
    this.#toConvert.clear();
  }

  async storeStreamed(store: StoreStreamed): Promise<void> {
    for (const { path, found, mark } of this.#toStream.splice(0)) {
      const left = this.#options.deadline - performance.now();
      const id = left > 0 ? await store(onDisk(this.#root, path), found.private, left) : undefined;
      if (id === undefined) {
        this.leaveOut(path, "no-time");
        continue;
      }
      found.id = id;
      // Converting the file would take as long again, so keep its exact bytes instead.
      if (this.#rules.reaches(path)) found.rawId = id;
      this.#remember(path, mark, found);
    }
  }

  toCache(): Record<string, CachedFile> {
    return this.#after;
  }

  #read(path: string, mode: string | undefined, staged: string, maxSize: number): FoundFile | null | undefined {
    const place = onDisk(this.#root, path);
    try {
      const readAt = Date.now();
      const stat = statOf(place);
      if (!stat) return this.#gone();
      if (stat.isDirectory() || !(stat.isFile() || stat.isSymbolicLink())) {
        this.leaveOut(path, "special-file");
        return undefined;
      }
      if (stat.size > maxSize) {
        this.leaveOut(path, "too-large");
        return undefined;
      }
      this.seen.set(path, { stat, readId: null, staged });
      const mark = this.#markOf(path, stat, readAt, staged);
      const actual = stat.isSymbolicLink() ? SYMLINK_MODE : this.#modeOf(mode, Number(stat.mode));
      if (stat.isFile()) this.#permissions.add(path, kindOf({ mode: actual }), recordableBits(stat));
      const isPrivate = this.#isPrivate(path, stat);
      const known = this.#before[path];
      if (mark && known?.mark === mark && known.mode === actual && (known.private ?? false) === isPrivate) {
        this.#after[path] = known;
        return { mode: known.mode, id: known.id, rawId: known.rawId, private: isPrivate };
      }
      const found: FoundFile = { mode: actual, id: "", rawId: null, private: isPrivate };
      if (stat.isSymbolicLink())
        return this.#store(path, found, readlinkSync(place, { encoding: "buffer" }), mark, false);
      if (performance.now() > this.#options.deadline) {
        this.anyChanged = true;
        this.leaveOut(path, "no-time");
        return undefined;
      }
      if (stat.size >= STREAMED_BYTES) {
        this.anyRead = true;
        this.anyChanged = true;
        this.#toStream.push({ path, found, mark });
        return found;
      }
      return this.#store(path, found, readFileSync(place), mark, true);
    } catch (error) {
      if (isAbsence(error)) return this.#gone();
      this.leaveOut(path, "unreadable");
      return undefined;
    }
  }

  /** The file was deleted after `git status` ran. */
  #gone(): null {
    this.anyChanged = true;
    return null;
  }

  /** The converted form also depends on the staged blob and the conversion rules, so the mark includes both. */
  #markOf(path: string, stat: BigIntStats, readAt: number, staged: string): string | undefined {
    const mark = markOf(stat, readAt);
    const print = this.#rules.fingerprintAt(path);
    return mark && print ? `${mark} ${staged} ${print}` : mark;
  }

  /** A repository that is private as a whole does not separate private files. */
  #isPrivate(path: string, stat: BigIntStats): boolean {
    if (this.#writers.private === this.#writers.shared) return false;
    if (this.#options.isIncluded(path)) return true;
    return this.#permissions.isPrivate(path, stat.isSymbolicLink() ? null : Number(stat.mode));
  }

  #writerFor(found: FoundFile): ObjectWriter {
    return found.private ? this.#writers.private : this.#writers.shared;
  }

  #store(path: string, found: FoundFile, content: Buffer, mark: string | undefined, convertible: boolean): FoundFile {
    this.anyRead = true;
    if (convertible && this.#rules.mayConvert(path, content)) {
      this.anyChanged = true;
      this.#toConvert.set(path, { content, found, mark });
      return found;
    }
    const writer = this.#writerFor(found);
    found.id = writer.idOf("blob", content);
    const known = this.#before[path];
    // The file may be unchanged although its mark is unreliable: it was written just before the last snapshot.
    const isSame = known?.id === found.id && known.mode === found.mode && (known.private ?? false) === found.private;
    if (!isSame || known.rawId !== null) {
      this.anyChanged = true;
      writer.add("blob", content);
    }
    const seen = this.seen.get(path);
    if (seen && convertible && !this.#rules.reaches(path)) seen.readId = found.id;
    this.#remember(path, mark, found);
    return found;
  }

  #remember(path: string, mark: string | undefined, found: FoundFile): void {
    const { mode, id, rawId } = found;
    this.#after[path] = { mark: mark ?? "", mode, id, rawId, ...(found.private ? { private: true } : {}) };
  }

  /** Prefers git's mode (git handles file systems without modes) to the executable bit. */
  #modeOf(fromGit: string | undefined, mode: number): string {
    if (fromGit === FILE_MODE || fromGit === EXECUTABLE_MODE) return fromGit;
    return this.#fileMode && (mode & 0o100) !== 0 ? EXECUTABLE_MODE : FILE_MODE;
  }
}

/** Collects changed files as entries for the trees of a snapshot. */
export class FoundChanges {
  readonly work = new Map<string, TreeEntry | null>();
  readonly #raw = new Map<string, TreeEntry>();

  add(path: string, found: FoundFile | null): void {
    // The file was not stored in time: keep the staged entry.
    if (found?.id === "") return;
    this.work.set(path, found && { mode: found.mode, id: found.id });
    if (found?.rawId) this.#raw.set(path, { mode: found.mode, id: found.rawId });
  }

  /** Adds the exact bytes of a file that git considers unchanged. */
  addExact(path: string, { mode, rawId }: FoundFile): void {
    if (rawId) this.#raw.set(path, { mode, id: rawId });
  }

  get isEmpty(): boolean {
    return this.work.size + this.#raw.size === 0;
  }

  /** The tree of exact bytes, based on `base`; `base` itself if there are none. */
  async rawTree(trees: TreeStore, base: string | null): Promise<string | null> {
    return this.#raw.size > 0 ? trees.apply(base, this.#raw) : base;
  }
}

const MAX_NAMED = 200;

/** Replaces very many "no-time" files by their directories, so that a step stays small. */
export function joined(files: readonly NotCapturedFile[]): NotCapturedFile[] {
  let late = new Set(files.filter(({ why }) => why === "no-time").map(({ path }) => path));
  if (late.size <= MAX_NAMED) return [...files];
  while (late.size > MAX_NAMED) {
    const deepest = Math.max(...[...late].map((path) => path.split("/").length));
    // Top-level paths have no directory to merge into.
    if (deepest === 1) break;
    late = new Set([...late].map((path) => (path.split("/").length === deepest ? parentOf(path) : path)));
  }
  const others = files.filter(({ why }) => why !== "no-time");
  return [...others, ...[...late].map((path) => ({ path, why: "no-time" as const }))];
}
