/**
 * Caches the last snapshot of a work tree, so that the next one reads only changed files, and builds nothing if there
 * are none. Losing the cache costs time, never correctness.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { readText, removeFile, writeFileAtomic } from "../../base/fs/files.ts";
import { privateRepository } from "../private/store.ts";
import { hasRef } from "../refs.ts";
import type { Workspace } from "../workspace.ts";

/** Two writes within this time may leave a file with the same times and size. */
const RACY_MS = 2_000;
/** git may prune unreferenced objects after two weeks, so a cache older than this is not trusted. */
const MAX_AGE_MS = 5 * 24 * 60 * 60 * 1000;

export interface CachedFile {
  /** The file's times, size, inode and mode when it was read; empty if it had been written just before. */
  mark: string;
  mode: string;
  id: string;
  rawId: string | null;
  /** The content is in the private store. */
  private?: boolean;
}

export interface CachedSnapshot {
  v: 3;
  savedAt: number;
  /** The ref that keeps every object named here alive; without it, objects may be missing. */
  heldBy: string;
  /** Hash of the status and everything else that determines `result`. */
  key: string;
  result: unknown;
  files: Record<string, CachedFile>;
  /** HEAD's commit and its tree. */
  base: { head: string; tree: string } | null;
  /** Packed trees in base64, so that reading them does not start git. */
  trees: Record<string, string>;
}

const TREES_LIMIT = 128 << 10;

export function loadSnapshotCache(workspace: Workspace): CachedSnapshot | undefined {
  try {
    const [sum, body] = (readText(cacheFile(workspace)) ?? "").split("\n", 2);
    // Never build a snapshot on a damaged cache.
    if (!body || sum !== hexDigest("sha1", body)) return undefined;
    const cache = JSON.parse(body) as CachedSnapshot;
    if (cache.v !== 3 || Math.abs(Date.now() - cache.savedAt) > MAX_AGE_MS) return undefined;
    return isHeld(workspace, cache) ? cache : undefined;
  } catch {
    return undefined;
  }
}

function isHeld(workspace: Workspace, { heldBy, result }: CachedSnapshot): boolean {
  const isPrivate = typeof result === "object" && result !== null && "shared" in result;
  return hasRef(workspace, heldBy) && (!isPrivate || hasRef(privateRepository(workspace), heldBy));
}

export function rememberedTrees(cache: CachedSnapshot | undefined): Map<string, Buffer> {
  return new Map(Object.entries(cache?.trees ?? {}).map(([id, data]) => [id, Buffer.from(data, "base64")]));
}

/** Selects as many trees as fit, in the order of the sources. */
export function treesToRemember(...sources: ReadonlyMap<string, Buffer>[]): Record<string, string> {
  const kept: Record<string, string> = {};
  let size = 0;
  for (const trees of sources) {
    for (const [id, data] of trees) {
      if (Object.hasOwn(kept, id) || size + data.length > TREES_LIMIT) continue;
      size += data.length;
      kept[id] = data.toString("base64");
    }
  }
  return kept;
}

export function saveSnapshotCache(workspace: Workspace, cache: CachedSnapshot): void {
  const body = JSON.stringify(cache);
  writeFileAtomic(cacheFile(workspace), `${hexDigest("sha1", body)}\n${body}\n`);
}

/** Call whenever steps are deleted: the objects that the cache names may be pruned from then on. */
export function dropSnapshotCache(workspace: Workspace): void {
  removeFile(cacheFile(workspace));
}

/** Identifies a file's content without reading it; undefined if the file was written too recently to be sure. */
export function markOf(stat: BigIntStats, readAt: number): string | undefined {
  const newest = stat.mtimeMs > stat.ctimeMs ? stat.mtimeMs : stat.ctimeMs;
  return Number(newest) > readAt - RACY_MS ? undefined : fullMarkOf(stat);
}

/** Like `markOf`, for a file known to be old enough. */
export function fullMarkOf(stat: BigIntStats): string {
  return `${stat.mtimeNs}.${stat.ctimeNs}.${stat.size}.${stat.ino}.${stat.mode}`;
}

export function statOf(path: string | Buffer): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function cacheFile(workspace: Workspace): string {
  return join(workspace.stateDir, "snapshot.json");
}
