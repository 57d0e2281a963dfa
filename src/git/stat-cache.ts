/**
 * What the last snapshot of a work tree found, so that the next one reads only files that changed since, and
 * builds nothing at all when none did. A cache: losing it costs time, never correctness.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../base/digest.ts";
import { readText, removeFile, writeFileAtomic } from "../base/files.ts";
import { hasRef } from "./refs.ts";
import type { Workspace } from "./workspace.ts";

/** Two writes within this time may leave a file the same times and size. */
const RACY_MS = 2_000;
/** Objects that nothing refers to any longer may be pruned after two weeks: far older entries are not trusted. */
const MAX_AGE_MS = 5 * 24 * 60 * 60 * 1000;

export interface CachedFile {
  /** Times, size, inode and mode when it was read; empty where it had been written too shortly before. */
  mark: string;
  mode: string;
  id: string;
  rawId: string | null;
}

export interface CachedSnapshot {
  v: 3;
  savedAt: number;
  /** The ref that keeps every object named here: without it they may be gone. */
  heldBy: string;
  /** Of the status that led to `result`, with everything else that decides it. */
  key: string;
  result: unknown;
  files: Record<string, CachedFile>;
  /** The tree of the commit that HEAD was. */
  base: { head: string; tree: string } | null;
  /** Trees that are not loose, in base64, so that git need not be asked for them again. */
  trees: Record<string, string>;
}

const TREES_LIMIT = 128 << 10;

export function loadSnapshotCache(workspace: Workspace): CachedSnapshot | undefined {
  try {
    const [sum, body] = (readText(cacheFile(workspace)) ?? "").split("\n", 2);
    // A bit that tipped over, or a line of another file: a snapshot must not be built on that.
    if (!body || sum !== hexDigest("sha1", body)) return undefined;
    const cache = JSON.parse(body) as CachedSnapshot;
    if (cache.v !== 3 || Math.abs(Date.now() - cache.savedAt) > MAX_AGE_MS) return undefined;
    return hasRef(workspace, cache.heldBy) ? cache : undefined;
  } catch {
    return undefined;
  }
}

export function rememberedTrees(cache: CachedSnapshot | undefined): Map<string, Buffer> {
  return new Map(Object.entries(cache?.trees ?? {}).map(([id, data]) => [id, Buffer.from(data, "base64")]));
}

/** As many as fit, those first that were made last. */
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

/** To be called whenever steps are deleted: what the cache names may be pruned from then on. */
export function dropSnapshotCache(workspace: Workspace): void {
  removeFile(cacheFile(workspace));
}

/** Identifies a file's content without reading it, or undefined where it was written too recently to tell. */
export function markOf(stat: BigIntStats, readAt: number): string | undefined {
  const newest = stat.mtimeMs > stat.ctimeMs ? stat.mtimeMs : stat.ctimeMs;
  if (Number(newest) > readAt - RACY_MS) return undefined;
  return `${stat.mtimeNs}.${stat.ctimeNs}.${stat.size}.${stat.ino}.${stat.mode}`;
}

export function statOf(path: string | Buffer): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function cacheFile(workspace: Workspace): string {
  return join(workspace.stateDir, "snapshot.json");
}
