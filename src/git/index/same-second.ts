/**
 * Finds tracked files that were written again within the second in which git compared them with the index, with their
 * size and modification time kept. git compares whole seconds and takes them for unchanged; the index has nanoseconds.
 *
 * A file that is compared after its second has passed can no longer change unnoticed by git, so each entry is compared
 * once. Losing the file that remembers this costs time, never correctness.
 */
import { type BigIntStats, statSync } from "node:fs";
import { join } from "node:path";
import { readJson, statIfPresent, writeJson } from "../../base/fs/files.ts";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { logError } from "../../base/log.ts";
import { indexIdentity, type TrackedFile } from "../inexact/state.ts";
import type { Workspace } from "../workspace.ts";
import { statOf } from "./stat-cache.ts";
import { entriesChangedSince, type IndexTime, type TimedEntry } from "./tracked-paths.ts";

/** A file that git takes for unchanged, as the index has it. */
interface RewrittenFile extends TrackedFile {
  /** The second in which it changed. */
  second: number;
}

interface Compared {
  v: 1;
  /** Identity of the private index. */
  index: string;
  /** The second of the newest change that the index knows. */
  newest: number;
  /** How long comparing took; it ended at the modification time of the file that has this. */
  tookMs: number;
  found: RewrittenFile[];
}

/** Work tree and store may be on file systems whose clocks differ by this much. */
const CLOCKS_DIFFER_SECONDS = 2;
/** More than this are found only where a file system forgets nanoseconds. */
const MAX_FOUND = 1_000;

/** A hook has time for an index of this size, about 500 files; it leaves a larger one to the worker. */
const HURRIED_BYTES = 40 << 10;

export function findRewritten(workspace: Workspace, index: string, isHurried: boolean): TrackedFile[] {
  try {
    const identity = indexIdentity(index);
    if (identity === undefined) return [];
    const known = loadCompared(workspace);
    const isSameIndex = known?.index === identity;
    if (isSameIndex && known.newest < known.since) return known.found;
    const began = performance.now();
    const found = compare(workspace, index, known, isHurried);
    if (!found) return isSameIndex ? known.found : [];
    save(workspace, { v: 1, index: identity, ...found, tookMs: performance.now() - began });
    return found.found;
  } catch (error) {
    // A snapshot without these files is better than none.
    logError("looking for files that were written again within a second", error);
    return [];
  }
}

/** Undefined if the index is too large for a hook, or if only git reads such an index. */
function compare(
  { root }: Workspace,
  index: string,
  known: LoadedCompared | undefined,
  isHurried: boolean,
): Pick<Compared, "newest" | "found"> | undefined {
  if (isHurried && statSync(index).size > HURRIED_BYTES) return undefined;
  const before = new Set(known?.found.map(({ path }) => path));
  const since = known?.since ?? 0;
  const first = Math.min(since, ...(known?.found ?? []).map(({ second }) => second));
  const all = entriesChangedSince(index, first);
  if (!all) return undefined;
  const due = all.entries.filter(({ path, changed }) => changed.seconds >= since || before.has(path));
  const found = due.filter((entry) => isRewritten(root, entry));
  return { newest: all.newest, found: found.length > MAX_FOUND ? [] : found.map(fileOf) };
}

function isRewritten(root: string, { path, changed, modified }: TimedEntry): boolean {
  // Some programs write an index without nanoseconds.
  if (changed.nanoseconds === 0 && modified.nanoseconds === 0) return false;
  const stat = statOf(onDisk(root, path));
  if (!stat || !(stat.isFile() || stat.isSymbolicLink()) || !isWithinSecond(stat, changed, modified)) return false;
  return stat.ctimeNs !== nanosecondsOf(changed) || stat.mtimeNs !== nanosecondsOf(modified);
}

/** git sees any other file itself. */
function isWithinSecond({ ctimeNs, mtimeNs }: BigIntStats, changed: IndexTime, modified: IndexTime): boolean {
  return ctimeNs / NANOSECONDS === BigInt(changed.seconds) && mtimeNs / NANOSECONDS === BigInt(modified.seconds);
}

const NANOSECONDS = 1_000_000_000n;

function nanosecondsOf({ seconds, nanoseconds }: IndexTime): bigint {
  return BigInt(seconds) * NANOSECONDS + BigInt(nanoseconds);
}

function fileOf({ path, mode, id, changed }: TimedEntry): RewrittenFile {
  return { path, mode: mode.toString(8), id, second: changed.seconds };
}

interface LoadedCompared extends Compared {
  /** Entries of files that changed in an earlier second have been compared. */
  since: number;
}

function loadCompared(workspace: Workspace): LoadedCompared | undefined {
  const file = comparedFile(workspace);
  const saved = statIfPresent(file);
  if (!saved) return undefined;
  const compared = readCompared(file);
  const { index, newest, tookMs, found } = compared;
  if (compared.v !== 1 || typeof index !== "string" || typeof newest !== "number" || typeof tookMs !== "number")
    return undefined;
  if (!Array.isArray(found) || !found.every(isFile)) return undefined;
  const since = Math.floor((saved.mtimeMs - tookMs) / 1000) - CLOCKS_DIFFER_SECONDS;
  return { v: 1, index, newest, tookMs, found, since };
}

function readCompared(file: string): Partial<Compared> {
  try {
    return (readJson(file) ?? {}) as Partial<Compared>;
  } catch {
    // A damaged file is as good as none.
    return {};
  }
}

function isFile(value: unknown): value is RewrittenFile {
  const { path, mode, id, second } = (value ?? {}) as Partial<RewrittenFile>;
  return [path, mode, id].every((text) => typeof text === "string") && typeof second === "number";
}

function save(workspace: Workspace, compared: Compared): void {
  try {
    writeJson(comparedFile(workspace), compared);
  } catch (error) {
    logError("remembering which files were compared", error);
  }
}

function comparedFile({ stateDir }: Workspace): string {
  return join(stateDir, "same-second.json");
}
