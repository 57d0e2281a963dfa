/**
 * Reads every file that a restore will replace or delete and adds missing content to the snapshot, so that the safety
 * step is exact. git and our cache rely on times, which memory maps, tools that keep times, faulty file monitors and
 * file servers with another clock can leave unchanged.
 */
import { type BigIntStats, closeSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { isAbsence } from "../../base/errors.ts";
import { removeFile, temporaryBeside } from "../../base/fs/files.ts";
import { onDisk, parentOf } from "../../base/fs/path-bytes.ts";
import { log } from "../../base/log.ts";
import { shownPath } from "../../base/text.ts";
import type { ConversionRules, Converted } from "../../git/conversion/conversion.ts";
import { gitIn } from "../../git/git.ts";
import { privateIndex } from "../../git/index/private-index.ts";
import { fullMarkOf } from "../../git/index/stat-cache.ts";
import {
  EXECUTABLE_MODE,
  entryAt,
  FILE_MODE,
  SYMLINK_MODE,
  TREE_MODE,
  type TreeEntry,
} from "../../git/objects/trees.ts";
import { readingEnvironment } from "../../git/private/store.ts";
import { SnapshotAdditions } from "../../git/snapshot/additions.ts";
import { LARGE_BYTES } from "../../git/snapshot/large-files.ts";
import type { Capture, Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { RecordedFile } from "../plan/files.ts";
import { contentId, idOfBytes } from "./content.ts";
import { safeStat } from "./move.ts";

/** By path: the content (a `contentId`) that the snapshot is known to restore. */
export type Held = Record<string, string>;

export interface HeldSnapshot {
  /** The given snapshot, or an extended copy if content was missing. */
  present: Snapshot;
  held: Held;
  /** Some of the files, as they were found. */
  stats: ReadonlyMap<string, BigIntStats>;
}

/** Upper limit of content held in memory. */
const MAX_BATCH_BYTES = 64 << 20;
const LARGE_TIMEOUT_MS = 600_000;

/** `recorded`: the snapshot's entries at the paths that the restore touches. */
export async function holdFiles(
  workspace: Workspace,
  capture: Capture,
  present: Snapshot,
  recorded: ReadonlyMap<string, RecordedFile>,
  largeBytes = LARGE_BYTES,
): Promise<HeldSnapshot> {
  const held: Held = Object.create(null);
  const rules = capture.rules();
  const doubtful: Doubtful[] = [];
  const isReachable = reachableBelow(workspace.root);
  const stats = new Map<string, BigIntStats>();
  for (const [path, { work, raw }] of recorded) {
    const place = onDisk(workspace.root, path);
    const stat = safeStat(place);
    if (stat) stats.set(path, stat);
    const known = stat && readJustNow(capture, path, stat);
    const content = known ?? (isReachable(path) ? contentId(place, workspace.hash) : undefined);
    if (content === undefined) continue;
    if (isHeld(rules, path, content, work, raw)) held[path] = content;
    else doubtful.push({ path, work, raw });
  }
  if (doubtful.length === 0) return { present, held, stats };
  const addition = new Addition(workspace, capture, rules, present, held, stats);
  const isLarge = ({ path }: Doubtful) => (safeStat(onDisk(workspace.root, path))?.size ?? 0n) >= largeBytes;
  for (const file of doubtful) if (isLarge(file)) await addition.addLarge(file);
  return addition.add(doubtful.filter((file) => !isLarge(file)));
}

/**
 * The id of the bytes that the snapshot itself read, if the file was not written to since. Reading them once more would
 * not make it certain: what counts is the read right before the file is deleted (discard.ts).
 */
function readJustNow(capture: Pick<Capture, "seen">, path: string, stat: BigIntStats): string | undefined {
  const seen = capture.seen(path);
  return seen?.readId && fullMarkOf(seen.stat) === fullMarkOf(stat) ? seen.readId : undefined;
}

/** The snapshot's entries at these paths; paths without an entry are omitted. */
export async function recordedFiles(
  { trees }: Pick<Capture, "trees">,
  present: Snapshot,
  paths: readonly string[],
): Promise<Map<string, RecordedFile>> {
  const recorded = new Map<string, RecordedFile>();
  for (const path of paths) {
    const work = await entryAt(trees, present.work, path);
    const raw = await entryAt(trees, present.raw, path);
    if (work && work.mode !== TREE_MODE) recorded.set(path, { work, raw: raw?.id ?? null });
  }
  return recorded;
}

interface Doubtful extends RecordedFile {
  path: string;
}

/** True if the answer is certain without running git: exact bytes, or a file that no conversion affects. */
function isHeld(rules: ConversionRules, path: string, content: string, work: TreeEntry, raw: string | null): boolean {
  if (work.mode === SYMLINK_MODE) return content === `link ${work.id}`;
  if (raw !== null) return raw === content;
  return work.id === content && !rules.reaches(path);
}

interface Read {
  file: Doubtful;
  content: Buffer;
  mode: string;
}

/** Adds content that a snapshot lacks, read from the files. */
class Addition {
  readonly #workspace: Workspace;
  readonly #additions: SnapshotAdditions;
  readonly #rules: ConversionRules;
  readonly #present: Snapshot;
  readonly #held: Held;
  readonly #stats: HeldSnapshot["stats"];
  readonly #work = new Map<string, TreeEntry>();
  readonly #raw = new Map<string, TreeEntry | null>();

  constructor(
    workspace: Workspace,
    capture: Capture,
    rules: ConversionRules,
    present: Snapshot,
    held: Held,
    stats: HeldSnapshot["stats"],
  ) {
    this.#workspace = workspace;
    this.#additions = new SnapshotAdditions(workspace, capture);
    this.#rules = rules;
    this.#present = present;
    this.#held = held;
    this.#stats = stats;
  }

  async add(files: readonly Doubtful[]): Promise<HeldSnapshot> {
    for (const batch of this.#batches(files)) await this.#addBatch(batch);
    const [held, stats] = [this.#held, this.#stats];
    if (this.#work.size + this.#raw.size === 0) return { present: this.#present, held, stats };
    const shown = [...this.#work.keys()].slice(0, 3).map(shownPath).join(", ");
    log("info", "restore", `read again, since git took it for unchanged: ${shown}`);
    return { present: await this.#additions.apply(this.#present, this.#work, this.#raw), held, stats };
  }

  /** Streams the file from disk, because it may not fit in memory. */
  async addLarge(file: Doubtful): Promise<void> {
    const { path, work, raw } = file;
    const place = onDisk(this.#workspace.root, path);
    const stat = safeStat(place);
    const isConverted = this.#rules.reaches(path);
    if (!stat?.isFile()) return;
    if (isConverted && raw === null) {
      const content = contentId(place, this.#workspace.hash);
      if (content !== undefined && content === (await this.#writtenBack(file))) {
        this.#held[path] = content;
        return;
      }
    }
    const id = await this.#additions.storeFile(path);
    if (id === undefined) return;
    const entry = { mode: modeOf(stat, work), id };
    this.#held[path] = id;
    this.#work.set(path, entry);
    if (isConverted || raw !== null) this.#raw.set(path, isConverted ? entry : null);
  }

  /** The content id of what git would check out for the file; undefined if git fails. */
  async #writtenBack({ path, work }: Doubtful): Promise<string | undefined> {
    if (/[\udc80-\udcff]/.test(path)) return undefined;
    const temporary = temporaryBeside(join(this.#workspace.stateDir, "written"));
    const outputFd = openSync(temporary, "wx", 0o600);
    try {
      const env = readingEnvironment(this.#workspace);
      const show = ["cat-file", "--filters", `--path=${path}`, work.id];
      const { code } = await gitIn(this.#workspace).try(show, { env, outputFd, timeoutMs: LARGE_TIMEOUT_MS });
      return code === 0 ? contentId(temporary, this.#workspace.hash) : undefined;
    } finally {
      closeSync(outputFd);
      removeFile(temporary);
    }
  }

  *#batches(files: readonly Doubtful[]): Generator<Read[]> {
    let batch: Read[] = [];
    let bytes = 0;
    for (const file of files) {
      const read = this.#read(file);
      if (!read) continue;
      if (bytes + read.content.length > MAX_BATCH_BYTES && batch.length > 0) {
        yield batch;
        [batch, bytes] = [[], 0];
      }
      batch.push(read);
      bytes += read.content.length;
    }
    if (batch.length > 0) yield batch;
  }

  #read(file: Doubtful): Read | undefined {
    const place = onDisk(this.#workspace.root, file.path);
    try {
      const stat = safeStat(place);
      if (stat?.isSymbolicLink())
        return { file, content: readlinkSync(place, { encoding: "buffer" }), mode: SYMLINK_MODE };
      return stat?.isFile() ? { file, content: readFileSync(place), mode: modeOf(stat, file.work) } : undefined;
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  async #addBatch(batch: readonly Read[]): Promise<void> {
    const convertible = batch.filter(
      ({ file, content, mode }) => mode !== SYMLINK_MODE && this.#rules.mayConvert(file.path, content),
    );
    const converted = await this.#convert(convertible);
    for (const { file, content, mode } of batch) {
      const isExact = mode === SYMLINK_MODE || !this.#rules.mayConvert(file.path, content);
      const stored = converted.get(file.path);
      this.#held[file.path] = idOfBytes(content, this.#workspace.hash, mode === SYMLINK_MODE);
      const raw = isExact || stored?.lossy === false ? null : this.#store(content, file);
      const id = isExact ? this.#store(content, file) : (stored?.entry.id ?? raw ?? "");
      if (id !== file.work.id || mode !== file.work.mode) this.#work.set(file.path, { mode, id });
      if (raw !== file.raw) this.#raw.set(file.path, raw === null ? null : { mode, id: raw });
    }
  }

  /** Returns the blob id; writes the blob only if the snapshot lacks it. */
  #store(content: Buffer, { path, work, raw }: Doubtful): string {
    const writer = this.#additions.writerFor(path);
    const id = writer.idOf("blob", content);
    return id === work.id || id === raw ? id : writer.add("blob", content);
  }

  async #convert(batch: readonly Read[]): Promise<Map<string, Converted>> {
    if (batch.length === 0) return new Map();
    const contents = new Map(batch.map(({ file, content }) => [file.path, content]));
    return this.#additions.storeConverted(privateIndex(this.#workspace).path, contents);
  }
}

/** Keeps git's mode for a regular file, because git handles file systems without modes. */
function modeOf(stat: BigIntStats, known: TreeEntry): string {
  if (known.mode === FILE_MODE || known.mode === EXECUTABLE_MODE) return known.mode;
  return (Number(stat.mode) & 0o100) !== 0 ? EXECUTABLE_MODE : FILE_MODE;
}

/** Tests whether a path is reachable without following a link. Checks each directory once. */
function reachableBelow(root: string): (path: string) => boolean {
  const known = new Map([[".", true]]);
  const isDirectory = (path: string): boolean => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const is = isDirectory(parentOf(path)) && safeStat(onDisk(root, path))?.isDirectory() === true;
    known.set(path, is);
    return is;
  };
  return (path) => isDirectory(parentOf(path));
}
