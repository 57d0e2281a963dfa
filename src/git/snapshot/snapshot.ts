/**
 * Captures the exact state of a work tree as git trees: the staged files and the files on disk. Changes nothing of the
 * user's: reads status from a private copy of the index and only adds objects.
 */
import { hexDigest } from "../../base/digest.ts";
import type { LineEndSettings } from "../../model/step.ts";
import { conversionConfig, lineEndSettings } from "../conversion/config-cache.ts";
import { ConversionRules, storeConverted, unseenAttributes } from "../conversion/conversion.ts";
import { ignoreRulesOf, privateByChoice, startIncluding, withIgnoredFiles } from "../ignored/capture.ts";
import { lookAtIgnored } from "../ignored/list.ts";
import { privateIndex } from "../index/private-index.ts";
import { WORTH_ADVANCING } from "../index/private-store-index.ts";
import { findRewritten } from "../index/same-second.ts";
import {
  dropSnapshotCache,
  loadSnapshotCache,
  rememberedTrees,
  saveSnapshotCache,
  treesToRemember,
} from "../index/stat-cache.ts";
import { startFinding } from "../inexact/find.ts";
import { ObjectReader } from "../objects/reader.ts";
import { storeFile } from "../objects/store-file.ts";
import { TreeStore } from "../objects/trees.ts";
import { ObjectWriter, repositoryPlace } from "../objects/writer.ts";
import { privatePlace, pruneMark, scratchPlace } from "../private/store.ts";
import { countWideTrees, hasManyWideTrees } from "../wide/count.ts";
import { WideTrees } from "../wide/remembered.ts";
import type { Workspace } from "../workspace.ts";
import { SnapshotBuild } from "./build.ts";
import { type ContentWriters, type NotCapturedFile, type SeenFile, WorkFiles } from "./changed-files.ts";
import { DetailWriter } from "./details.ts";
import { PermissionNotes, permissionsDetail, scanFewFiles, scannedPermissions } from "./permissions.ts";
import { parseStatus } from "./status.ts";
import { runStatus } from "./status-run.ts";

export interface Snapshot {
  work: string;
  index: string;
  raw: string | null;
  /**
   * The same trees without private files, as the repository itself may hold them; absent if there are no private files.
   */
  shared?: { work: string; raw: string | null };
  head: string | null;
  branch: string | null;
  unmerged: { path: string; stages: [number, string, string][] }[];
  intentToAdd: string[];
  notCaptured: NotCapturedFile[];
  /** Detail with the ignore rules outside any tree; null if there are none, absent if they are unknown. */
  ignore?: string | null;
  /** Detail with the permissions that a plain checkout would not restore; null if there are none. */
  permissions?: string | null;
  /** git's settings for line endings; absent if `raw` may lack files that git considers unchanged. */
  lineEnds?: LineEndSettings;
  /** Detail with the names, times and sizes of known ignored files; absent if none are known. */
  ignoredFiles?: string;
}

export interface CaptureOptions {
  /** Untracked files above this many bytes are reported as not captured. */
  maxFileSize: number;
  /** Changed tracked files above this many bytes are reported as not captured. */
  maxTrackedSize: number;
  /** Globs of untracked paths to leave out. */
  exclude: readonly string[];
  /** Globs of ignored paths to capture anyway, as private files. */
  include?: readonly string[];
  /** Paths to capture regardless of size, ignore rules and excludes. */
  always?: readonly string[];
  /** Time limit for reading files; files that are not read in time are reported as not captured. */
  patienceMs?: number;
}

type SnapshotTrees = Pick<Snapshot, "work" | "raw" | "index">;

/** A snapshot in progress: git runs in the background until the caller calls `finish`. */
export interface Capture {
  /** Writes objects that the repository may hold. Its flush also flushes `privateWriter`. */
  readonly writer: ObjectWriter;
  /** Writes private contents and the trees that name them. */
  readonly privateWriter: ObjectWriter;
  /** The snapshot's details; the caller must flush them. */
  readonly details: DetailWriter;
  readonly reader: ObjectReader;
  readonly trees: TreeStore;
  /** For trees computed from snapshots that no ref keeps alive. Its flush also flushes the other writers. */
  readonly scratch: { trees: TreeStore; writer: ObjectWriter };
  /** The previous snapshot of this work tree; undefined if unknown. */
  readonly last: Snapshot | undefined;
  /** Whether background upkeep of the private index or packs pays off. Valid after everything is saved. */
  readonly wantsUpkeep: boolean;
  /** Completes the snapshot. Its objects are in `writer`, which the caller must flush. */
  finish(): Promise<Snapshot>;
  /** Whether the user's settings make a file private regardless of its mode. */
  isIncluded(path: string): boolean;
  /** How git converts the files of the snapshot. Call only after `finish`. */
  rules(): ConversionRules;
  /** A file as `finish` found it; undefined if git took it for unchanged. */
  seen(path: string): SeenFile | undefined;
  /** Rewrites all objects if the private objects that the snapshot relies on may have been pruned since it began. */
  renewIfPruned(): Promise<void>;
  /**
   * Saves the cache for the next snapshot. Call only after the ref `heldBy` keeps the objects alive: a cache that names
   * missing or prunable objects would make later snapshots incomplete. `saved` is what the ref holds; if a restore
   * replaced the contents found, the cache is dropped instead.
   */
  remember(heldBy: string, saved: SnapshotTrees): void;
  /** Ends the git processes. Callers must always call this. */
  close(): void;
}

/** How long a user waits if a filter hangs. */
const PATIENCE_MS = 60_000;
/** Minimum time for filters, even past the deadline. */
const MIN_FILTER_MS = 500;

/** Up to this many tracked files, a command looks at the permissions of all of them: some five microseconds each. */
const FEW_FILES = 2_000;
const FEW_FOR_A_HOOK = 200;

/** From this many packs on, git itself becomes slower. */
export const MANY_PACKS = 20;

export function startCapture(workspace: Workspace, options: CaptureOptions): Capture {
  const deadline = performance.now() + (options.patienceMs ?? Number.POSITIVE_INFINITY);
  const index = privateIndex(workspace);
  const settings = conversionConfig(workspace);
  // Start git first: everything else runs while it checks the files.
  const status = runStatus(workspace, index, settings, options.patienceMs ?? PATIENCE_MS);
  const facts = Promise.resolve(settings);
  const findInexact = startFinding(workspace, index.path);
  const including = startIncluding(workspace, options, PATIENCE_MS);
  const isIncluded = privateByChoice(options);
  const cache = loadSnapshotCache(workspace);
  const remembered = rememberedTrees(cache);
  const wideTrees = new WideTrees(workspace);
  const reader = new ObjectReader(workspace, { get: (id) => remembered.get(id) ?? wideTrees.get(id) });
  const writers = writersFor(workspace);
  const { shared: writer, private: privateWriter } = writers;
  const scratchWriter = new ObjectWriter(workspace, scratchPlace(workspace), [writer]);
  const trees = new TreeStore(reader, writer);
  const mark = pruneMark(workspace);
  const details = new DetailWriter(workspace);
  const ignored = lookAtIgnored(workspace);
  const isHurried = options.patienceMs !== undefined;
  const few = isHurried ? FEW_FOR_A_HOOK : FEW_FILES;
  const rewritten = findRewritten(workspace, index.path, isHurried);
  const scan = settings instanceof Promise ? undefined : scanFewFiles(workspace, index.path, few, settings.symlinks);
  let remember: ((heldBy: string, saved: SnapshotTrees) => void) | undefined;
  let conversion: ConversionRules | undefined;
  let seen: ReadonlyMap<string, SeenFile> = new Map();
  let read = 0;

  async function finish(): Promise<Snapshot> {
    const { output, large, isUnfiltered } = await status;
    const parsed = parseStatus(output);
    const known = await facts;
    const rules = new ConversionRules(workspace, known, unseenAttributes(parsed, known.sparse));
    conversion = rules;
    const scanned = scan ?? scanFewFiles(workspace, index.path, few, known.symlinks);
    const permissions = new PermissionNotes(workspace.root, scanned ?? scannedPermissions(workspace));
    const reading = { ...options, deadline, isIncluded };
    const files = new WorkFiles(workspace, writers, rules, known.fileMode, permissions, reading, cache);
    seen = files.seen;
    const build = new SnapshotBuild(workspace, parsed, files, trees, trees.writingTo(privateWriter), reader);
    const included = await including;
    build.readIncluded(included);
    build.readFiles(options.always ?? []);
    build.readLarge(large, known.fileMode);
    build.readRewritten(rewritten, known.fileMode);
    const timeLeft = () => Math.max(MIN_FILTER_MS, Math.min(deadline - performance.now(), PATIENCE_MS) / 2);
    const finding = { rules, facts: known, status: parsed, isUnfiltered, timeoutMs: timeLeft() };
    const { files: inexact, complete } = await findInexact(finding);
    build.readInexact(inexact);
    const modes = permissionsDetail(permissions.result());
    const { patienceMs: _, ...decisive } = options;
    const key = hexDigest(
      "sha1",
      output,
      JSON.stringify([known, decisive, files.notCaptured, modes, inexact, complete, included, rewritten]),
    );
    build.base = cache?.base && cache.base.head === parsed.head ? cache.base : null;
    // Nothing has changed and a ref keeps the cached objects alive, so there is nothing to build.
    const same = cache?.key === key && !files.anyChanged ? (cache.result as Snapshot) : undefined;
    const rest = {
      ...ignoreRulesOf(known.ignoreLines, options, included !== null, details),
      permissions: modes === null ? null : details.add(modes),
      ...(complete ? { lineEnds: lineEndSettings(known) } : {}),
    };
    if (same && !files.anyRead) return withIgnoredFiles(same, ignored.detail, details);
    await files.storeConverted(async (some, isPrivate) => {
      const how = { facts: known, isUnfiltered, timeoutMs: timeLeft() };
      if (!isPrivate) return storeConverted(workspace, index.path, some, how);
      const { storePrivately } = await import("./additions.ts");
      return storePrivately(workspace, privateWriter, index.path, some, how);
    });
    await files.storeStreamed((file, isPrivate, timeoutMs) => storeFile(workspace, file, isPrivate, timeoutMs));
    const snapshot = withIgnoredFiles(same ?? { ...(await build.finish()), ...rest }, ignored.detail, details);
    read = same ? 0 : parsed.tracked.length + parsed.untracked.length;
    remember = (heldBy, saved) => {
      if (!sameTrees(saved, snapshot)) {
        dropSnapshotCache(workspace);
        return;
      }
      const made = [writer.packedTrees, privateWriter.packedTrees];
      const [base, kept] = [build.base, treesToRemember(...made, reader.coldTrees, remembered)];
      // Nothing was built if nothing has changed, so the trees of the last snapshot are still the ones to keep.
      if (!same) wideTrees.keep(reader.coldTrees);
      countWideTrees(workspace, writer.wideTrees + privateWriter.wideTrees);
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

  // Avoid an unhandled rejection if the caller never calls `finish`.
  status.catch(() => {});
  facts.catch(() => {});
  return {
    writer,
    privateWriter,
    details,
    reader,
    trees,
    scratch: { trees: trees.writingTo(scratchWriter), writer: scratchWriter },
    last: cache?.result as Snapshot | undefined,
    get wantsUpkeep() {
      const isBehind = index.fresh || ignored.isStale || writer.packs >= MANY_PACKS;
      return isBehind || hasManyWideTrees(workspace) || (workspace.kind === "private" && read >= WORTH_ADVANCING);
    },
    finish,
    isIncluded,
    rules: () => {
      if (!conversion) throw new Error("The snapshot is not finished.");
      return conversion;
    },
    seen: (path) => seen.get(path),
    renewIfPruned: async () => {
      if (mark !== undefined && pruneMark(workspace) !== mark) await captureAnew(workspace, options);
    },
    remember: (heldBy, saved) => remember?.(heldBy, saved),
    close: () => reader.close(),
  };
}

function sameTrees(one: SnapshotTrees, other: SnapshotTrees): boolean {
  return one.work === other.work && one.raw === other.raw && one.index === other.index;
}

/** Reads and writes everything again, without the cache. */
async function captureAnew(workspace: Workspace, options: CaptureOptions): Promise<void> {
  dropSnapshotCache(workspace);
  const capture = startCapture(workspace, options);
  try {
    await capture.finish();
    capture.writer.flush();
  } finally {
    capture.close();
  }
}

function writersFor(workspace: Workspace): ContentWriters {
  if (workspace.kind === "private") {
    const writer = new ObjectWriter(workspace);
    return { shared: writer, private: writer };
  }
  const own = new ObjectWriter(workspace, privatePlace(workspace));
  return { shared: new ObjectWriter(workspace, repositoryPlace(workspace), [own]), private: own };
}
