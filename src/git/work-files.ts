/** Reads changed files of a work tree into objects, from the cache where they have not changed since. */
import { type BigIntStats, readFileSync, readlinkSync } from "node:fs";
import { isAbsence } from "../base/errors.ts";
import { pathMatcher } from "../base/glob.ts";
import { onDisk } from "../base/path-bytes.ts";
import type { ConversionRules, Converted } from "./conversion.ts";
import type { ObjectWriter } from "./objects.ts";
import { type CachedFile, type CachedSnapshot, markOf, statOf } from "./stat-cache.ts";
import { EXECUTABLE_MODE, FILE_MODE, SYMLINK_MODE } from "./trees.ts";
import type { Workspace } from "./workspace.ts";

export interface FoundFile {
  mode: string;
  id: string;
  /** The file's exact bytes, where git's conversions would not give them back. */
  rawId: string | null;
}

export interface NotCapturedFile {
  path: string;
  why: "too-large" | "nested-repository" | "submodule" | "unreadable" | "special-file";
}

export interface ReadOptions {
  maxFileSize: number;
  exclude: readonly string[];
}

export class WorkFiles {
  readonly notCaptured: NotCapturedFile[] = [];
  /** Whether anything was found that the cache does not hold. */
  anyChanged = false;
  /** Whether anything is known better than the cache does: a file that was read again may have to be no more. */
  anyRead = false;

  readonly #root: string;
  readonly #writer: ObjectWriter;
  readonly #rules: ConversionRules;
  readonly #fileMode: boolean;
  readonly #maxFileSize: number;
  readonly #excluded: (path: string) => boolean;
  readonly #before: Record<string, CachedFile>;
  readonly #after: Record<string, CachedFile> = Object.create(null);
  readonly #toConvert = new Map<string, { content: Buffer; found: FoundFile; mark: string | undefined }>();

  constructor(
    workspace: Workspace,
    writer: ObjectWriter,
    rules: ConversionRules,
    fileMode: boolean,
    options: ReadOptions,
    cache: CachedSnapshot | undefined,
  ) {
    this.#root = workspace.root;
    this.#writer = writer;
    this.#rules = rules;
    this.#fileMode = fileMode;
    this.#maxFileSize = options.maxFileSize;
    this.#excluded = pathMatcher(options.exclude);
    this.#before = cache?.files ?? {};
  }

  leaveOut(path: string, why: NotCapturedFile["why"]): void {
    this.notCaptured.push({ path, why });
  }

  /** Whether git may have stored the file at this path in another form. */
  mayBeConverted(path: string): boolean {
    return this.#rules.reaches(path);
  }

  /** null when it is gone; undefined when it cannot be read. `mode` and `staged` are what git says of it. */
  readTracked(path: string, mode: string, staged: string): FoundFile | null | undefined {
    return this.#read(path, mode, staged, Number.POSITIVE_INFINITY);
  }

  readUntracked(path: string): FoundFile | undefined {
    if (this.#excluded(path)) return undefined;
    return this.#read(path, undefined, "", this.#maxFileSize) ?? undefined;
  }

  /** Stores the files that git would convert, through git. */
  async storeConverted(store: (files: Map<string, Buffer>) => Promise<Map<string, Converted>>): Promise<void> {
    if (this.#toConvert.size === 0) return;
    const contents = new Map<string, Buffer>();
    for (const [path, { content }] of this.#toConvert) contents.set(path, content);
    const stored = await store(contents);
    for (const [path, { content, found, mark }] of this.#toConvert) {
      const converted = stored.get(path);
      const rawId = converted && !converted.lossy ? null : this.#writer.add("blob", content);
      found.id = converted?.entry.id ?? rawId ?? "";
      found.rawId = rawId;
      if (converted) this.#remember(path, mark, found);
    }
    this.#toConvert.clear();
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
      const mark = this.#markOf(path, stat, readAt, staged);
      const actual = stat.isSymbolicLink() ? SYMLINK_MODE : this.#modeOf(mode, Number(stat.mode));
      const known = this.#before[path];
      if (mark && known?.mark === mark && known.mode === actual) {
        this.#after[path] = known;
        return { mode: known.mode, id: known.id, rawId: known.rawId };
      }
      if (stat.isSymbolicLink())
        return this.#store(path, actual, readlinkSync(place, { encoding: "buffer" }), mark, false);
      return this.#store(path, actual, readFileSync(place), mark, true);
    } catch (error) {
      if (isAbsence(error)) return this.#gone();
      this.leaveOut(path, "unreadable");
      return undefined;
    }
  }

  /** Removed since git looked. */
  #gone(): null {
    this.anyChanged = true;
    return null;
  }

  /** Where git converts, what it makes of a file depends on more than the file. */
  #markOf(path: string, stat: BigIntStats, readAt: number, staged: string): string | undefined {
    const mark = markOf(stat, readAt);
    const print = this.#rules.printAt(path);
    return mark && print ? `${mark} ${staged} ${print}` : mark;
  }

  #store(path: string, mode: string, content: Buffer, mark: string | undefined, convertible: boolean): FoundFile {
    const found: FoundFile = { mode, id: "", rawId: null };
    this.anyRead = true;
    if (convertible && this.#rules.mayConvert(path, content)) {
      this.anyChanged = true;
      this.#toConvert.set(path, { content, found, mark });
      return found;
    }
    found.id = this.#writer.idOf("blob", content);
    const known = this.#before[path];
    // Written too shortly before the last look to be told by its times, and still the same.
    if (known?.id !== found.id || known.mode !== mode || known.rawId !== null) {
      this.anyChanged = true;
      this.#writer.add("blob", content);
    }
    this.#remember(path, mark, found);
    return found;
  }

  #remember(path: string, mark: string | undefined, found: FoundFile): void {
    this.#after[path] = { mark: mark ?? "", mode: found.mode, id: found.id, rawId: found.rawId };
  }

  /** git's word where it has one (it knows about file systems without modes), else the executable bit. */
  #modeOf(fromGit: string | undefined, mode: number): string {
    if (fromGit === FILE_MODE || fromGit === EXECUTABLE_MODE) return fromGit;
    return this.#fileMode && (mode & 0o100) !== 0 ? EXECUTABLE_MODE : FILE_MODE;
  }
}
