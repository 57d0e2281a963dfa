/**
 * Records names, times and sizes of ignored files, never contents, so that a plan can report which were removed, moved
 * or changed. A background scan (scan.ts) finds the files, since that walks the work tree; a hook only stats a bounded
 * number of known ones.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { readText, statIfPresent } from "../../base/fs/files.ts";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { readDetail } from "../snapshot/details.ts";
import type { Workspace } from "../workspace.ts";

/** One stat takes a few microseconds, while git checks the work tree. */
export const MAX_LISTED = 300;
/** Minimum time between two scans. */
const MIN_RENEWAL_MS = 5 * 60 * 1000;

/** Times in whole milliseconds. A directory represents all its content; its size is 0. */
export interface IgnoredEntry {
  modified: number;
  changed: number;
  size: number;
}

export interface IgnoredList {
  /** Whether the list is incomplete because there were too many files. */
  cut: boolean;
  /** By path; a directory's path ends in a slash. Null for a known file that no longer exists. */
  entries: ReadonlyMap<string, IgnoredEntry | null>;
}

/** The names that the last scan found. */
export interface KnownNames {
  cut: boolean;
  paths: readonly string[];
}

export interface IgnoredLook {
  /** The list as a step's detail; undefined if nothing is known. */
  detail: string | undefined;
  /** Whether a new scan is due. */
  isStale: boolean;
}

export function namesFile({ stateDir }: Pick<Workspace, "stateDir">): string {
  return join(stateDir, "ignored.json");
}

/** Stats the known ignored files. Never throws: a step matters more than this list. */
export function lookAtIgnored(workspace: Workspace): IgnoredLook {
  try {
    const names = readNames(workspace);
    if (!names) return { detail: undefined, isStale: true };
    return { detail: listDetail(listOf(workspace.root, names)), isStale: isStale(workspace) };
  } catch {
    return { detail: undefined, isStale: false };
  }
}

export function listOf(root: string, { cut, paths }: KnownNames): IgnoredList {
  return { cut, entries: new Map(paths.map((path) => [path, entryAt(root, path)])) };
}

/** Reads the list that a step references; undefined if there is none or its detail is missing. */
export function recordedList(workspace: Workspace, id: string | null | undefined): IgnoredList | undefined {
  if (!id) return undefined;
  try {
    const { v, cut, entries } = JSON.parse(readDetail(workspace, id) ?? "null") as StoredList;
    if (v !== 1) return undefined;
    return { cut: cut === true, entries: new Map(Object.entries(entries).map(([path, entry]) => [path, read(entry)])) };
  } catch {
    return undefined;
  }
}

/** docs/formats/steps.md: [modified, changed, size]. */
type StoredEntry = [number, number, number] | null;

interface StoredList {
  v: 1;
  cut: boolean;
  entries: Record<string, StoredEntry>;
}

function listDetail({ cut, entries }: IgnoredList): string {
  const stored: StoredList = { v: 1, cut, entries: Object.create(null) };
  for (const [path, entry] of entries) stored.entries[path] = entry && [entry.modified, entry.changed, entry.size];
  return JSON.stringify(stored);
}

function read(entry: StoredEntry): IgnoredEntry | null {
  if (entry === null) return null;
  const [modified, changed, size] = entry;
  return { modified, changed, size };
}

function readNames(workspace: Workspace): KnownNames | undefined {
  const text = readText(namesFile(workspace));
  if (text === undefined) return undefined;
  const { v, cut, paths } = JSON.parse(text) as KnownNames & { v: number };
  if (v !== 1 || !Array.isArray(paths)) return undefined;
  return { cut: cut === true, paths: paths.filter((path) => typeof path === "string").slice(0, MAX_LISTED) };
}

function entryAt(root: string, path: string): IgnoredEntry | null {
  const isDirectory = path.endsWith("/");
  const stat = statIfPresent(onDisk(root, isDirectory ? path.slice(0, -1) : path));
  if (!stat || stat.isDirectory() !== isDirectory) return null;
  const size = isDirectory ? 0 : stat.size;
  return { modified: Math.floor(stat.mtimeMs), changed: Math.floor(stat.ctimeMs), size };
}

/** Checks only the root, where new ignored files are likeliest: `.env`, `node_modules`, `dist`. */
function isStale(workspace: Workspace): boolean {
  const scanned = lstatSync(namesFile(workspace)).mtimeMs;
  return Date.now() - scanned > MIN_RENEWAL_MS && lstatSync(workspace.root).mtimeMs > scanned;
}
