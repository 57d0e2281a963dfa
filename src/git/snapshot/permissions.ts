/**
 * Records the permission bits that a plain checkout would not restore; git keeps only the executable bit. A step
 * references them, so that restoring a private file keeps it private.
 */

import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { readText, statIfPresent } from "../../base/fs/files.ts";
import { onDisk, parentOf } from "../../base/fs/path-bytes.ts";
import { type IndexedPath, pathsOfSmallIndex } from "../index/tracked-paths.ts";
import { EXECUTABLE_MODE } from "../objects/trees.ts";
import type { Workspace } from "../workspace.ts";

const ALL_BITS = 0o7777;
/** A program with these bits runs as its owner, so they are recorded only for the user's own files. */
const SET_ID_BITS = 0o6000;
const READ_BY_OTHERS = 0o044;
const SEARCHED_BY_OTHERS = 0o011;
/** With more exceptions than this, the most common mode becomes the usual one. */
const MAX_EXCEPTIONS = 50;
const MAX_LISTED = 4_000;

const KINDS = ["file", "executable", "directory"] as const;
export type PathKind = (typeof KINDS)[number];

/** The modes of paths that are not listed. */
export type UsualModes = Record<PathKind, number>;

export interface Permissions {
  usual: UsualModes;
  /** Whether unchanged tracked files were scanned too: if so, every unlisted file has the usual mode. */
  scanned: boolean;
  /** Whether that was done for this very snapshot. */
  isFresh?: boolean;
  /** Mode by path; a directory's path ends in a slash. */
  modes: Record<string, number>;
  /** Symbolic links that git might treat as plain files (`core.symlinks`), if they were scanned. */
  links?: string[];
}

/** The permissions of a step that records none: those of a checkout with the most common umask. */
export const PLAIN: Permissions = { usual: usualModes(0o022), scanned: false, modes: {} };

function usualModes(mask: number): UsualModes {
  return { file: 0o666 & ~mask, executable: 0o777 & ~mask, directory: 0o777 & ~mask };
}

export function kindOf({ mode }: { mode: string }): PathKind {
  return mode === EXECUTABLE_MODE ? "executable" : "file";
}

/** The bits that a restore may set. */
export function recordableBits(stat: { mode: bigint | number; uid: bigint | number }): number {
  const bits = Number(stat.mode) & ALL_BITS;
  return Number(stat.uid) === process.geteuid?.() ? bits : bits & ~SET_ID_BITS;
}

/**
 * The bits that may be set now. Drops set-id bits if another user owns the store, so that no foreign program runs as
 * the user.
 */
export function settableBits(workspace: Pick<Workspace, "storeDir">, mode: number): number {
  if ((mode & SET_ID_BITS) === 0) return mode;
  const owner = statIfPresent(workspace.storeDir)?.uid;
  return owner === process.geteuid?.() ? mode : mode & ~SET_ID_BITS;
}

/** Collects the permissions of files and of their directories. */
export class PermissionNotes {
  readonly #root: string;
  readonly #scan: Permissions | undefined;
  readonly #usual: UsualModes;
  /** Checked directories, and whether they or a parent deny access to other users. */
  readonly #directories = new Map<string, boolean>();
  /** Nearly all paths have the usual mode, so only their names are kept. */
  readonly #asUsual: Record<PathKind, string[]> = { file: [], executable: [], directory: [] };
  readonly #others: Record<PathKind, [path: string, bits: number][]> = { file: [], executable: [], directory: [] };

  constructor(root: string, scan?: Permissions) {
    this.#root = root;
    this.#scan = scan;
    this.#usual = scan?.usual ?? usualModes(process.umask());
  }

  add(path: string, kind: PathKind, bits: number): void {
    this.#note(path, kind, bits);
    this.#isClosed(parentOf(path));
  }

  isUsual(kind: PathKind, bits: number): boolean {
    return bits === this.#usual[kind];
  }

  /** Adds a file that has the usual bits, in a directory that is known. */
  addUsual(path: string, kind: PathKind): void {
    this.#asUsual[kind].push(path);
  }

  /** Whether so many paths are unusual that the others must be counted. */
  get needsMajority(): boolean {
    const { file, executable, directory } = this.#others;
    return file.length + executable.length + directory.length > MAX_EXCEPTIONS;
  }

  /** Whether other users cannot read a file, because of its own bits (null for a link) or a directory above it. */
  isPrivate(path: string, bits: number | null): boolean {
    return (bits !== null && (bits & READ_BY_OTHERS) !== READ_BY_OTHERS) || this.#isClosed(parentOf(path));
  }

  result(): Permissions {
    const { scanned = false, isFresh = false, modes: known = {}, links = [] } = this.#scan ?? {};
    const all = [...this.#others.file, ...this.#others.executable, ...this.#others.directory];
    const modes: Record<string, number> = Object.fromEntries(all);
    if (!scanned && all.length > MAX_EXCEPTIONS) return this.#byMajority();
    const listed = Object.keys(known).length === 0 ? modes : { ...this.#withoutNoted(known), ...modes };
    return { usual: this.#usual, scanned, isFresh, modes: bounded(listed), links };
  }

  /** Ignores the root of the work tree: a user who cannot enter it cannot read the repository in it either. */
  #isClosed(directory: string): boolean {
    if (directory === ".") return false;
    const known = this.#directories.get(directory);
    if (known !== undefined) return known;
    const stat = statIfPresent(onDisk(this.#root, directory));
    const bits = stat?.isDirectory() ? recordableBits(stat) : null;
    if (bits !== null) this.#note(`${directory}/`, "directory", bits);
    const closed =
      (bits !== null && (bits & SEARCHED_BY_OTHERS) !== SEARCHED_BY_OTHERS) || this.#isClosed(parentOf(directory));
    this.#directories.set(directory, closed);
    return closed;
  }

  #note(path: string, kind: PathKind, bits: number): void {
    if (bits === this.#usual[kind]) this.#asUsual[kind].push(path);
    else this.#others[kind].push([path, bits]);
  }

  /** Makes the most common mode of each kind the usual one. */
  #byMajority(): Permissions {
    const usual = { ...this.#usual };
    const modes: [path: string, bits: number][] = [];
    for (const kind of KINDS) {
      const counts = new Map([[usual[kind], this.#asUsual[kind].length]]);
      for (const [, bits] of this.#others[kind]) counts.set(bits, (counts.get(bits) ?? 0) + 1);
      const [most] = [...counts].reduce((best, one) => (one[1] > best[1] ? one : best));
      modes.push(...this.#others[kind].filter(([, bits]) => bits !== most));
      if (most !== usual[kind]) for (const path of this.#asUsual[kind]) modes.push([path, usual[kind]]);
      usual[kind] = most;
    }
    return { usual, scanned: false, modes: bounded(Object.fromEntries(modes)) };
  }

  /** Drops scanned modes of paths that were just found to have the usual mode. */
  #withoutNoted(known: Record<string, number>): Record<string, number> {
    const noted = new Set(KINDS.flatMap((kind) => this.#asUsual[kind]));
    return Object.fromEntries(Object.entries(known).filter(([path]) => !noted.has(path)));
  }
}

/** If there are too many modes, keeps only those of files that other users must not read. */
function bounded(modes: Record<string, number>): Record<string, number> {
  const all = Object.entries(modes);
  if (all.length <= MAX_LISTED) return modes;
  return Object.fromEntries(all.filter(([, bits]) => (bits & READ_BY_OTHERS) !== READ_BY_OTHERS).slice(0, MAX_LISTED));
}

/** Serializes the permissions as a step's detail; null if all are plain, as far as is known. */
export function permissionsDetail({ usual, scanned, isFresh, modes, links = [] }: Permissions): string | null {
  const isPlain = KINDS.every((kind) => usual[kind] === PLAIN.usual[kind]);
  // A scan of an earlier time does not tell that a file is open to others now.
  if (!isFresh && isPlain && Object.keys(modes).length === 0 && links.length === 0) return null;
  const rest = { ...(isFresh ? { fresh: true } : {}), ...(links.length > 0 ? { links } : {}) };
  return JSON.stringify({ v: 1, usual, scanned, modes, ...rest });
}

type Stored = Permissions & { v: number; fresh?: boolean };

export function parsePermissions(text: string | undefined): Permissions | undefined {
  try {
    const { v, usual, scanned, fresh, modes, links = [] } = JSON.parse(text ?? "null") as Stored;
    const numbers = [usual.file, usual.executable, usual.directory, ...Object.values(modes)];
    if (v !== 1 || !numbers.every((bits) => Number.isInteger(bits) && (bits & ~ALL_BITS) === 0)) return undefined;
    const names = links.filter((path) => typeof path === "string");
    return { usual, scanned: scanned === true, isFresh: fresh === true, modes, links: names };
  } catch {
    return undefined;
  }
}

/**
 * Scans the tracked files, if they are at most `limit`. `seesLinks`: git stores symbolic links as such, so that their
 * entries tell which files are links.
 */
export function scanFewFiles(
  { root }: Workspace,
  index: string,
  limit: number,
  seesLinks: boolean,
): Permissions | undefined {
  const paths = pathsOfSmallIndex(index, limit);
  if (!paths) return undefined;
  const notes = new PermissionNotes(root);
  const links: string[] = [];
  const usual: IndexedPath[] = [];
  let directory: string | undefined;
  for (const entry of paths) {
    const { path, mode } = entry;
    const bits = bitsAt(onDisk(root, path));
    if (bits === null && !seesLinks) links.push(path);
    if (bits === null || bits === undefined) continue;
    // The index is sorted, so that nearly every file is in the directory of the one before.
    const parent = path.slice(0, path.lastIndexOf("/") + 1);
    if (parent === directory && notes.isUsual(kindIn(mode), bits)) usual.push(entry);
    else notes.add(path, kindIn(mode), bits);
    directory = parent;
  }
  if (notes.needsMajority) for (const { path, mode } of usual) notes.addUsual(path, kindIn(mode));
  return { ...notes.result(), scanned: true, isFresh: true, links };
}

/** Null for a link; undefined for anything else that is no file, or that cannot be read. */
function bitsAt(place: string | Buffer): number | null | undefined {
  try {
    const stat = lstatSync(place, { throwIfNoEntry: false });
    return stat?.isFile() ? recordableBits(stat) : stat?.isSymbolicLink() ? null : undefined;
  } catch {
    return undefined;
  }
}

function kindIn(mode: number): PathKind {
  return (mode & 0o100) === 0 ? "file" : "executable";
}

/** Reads the worker's scan of all tracked files; undefined if it found nothing unusual. */
export function scannedPermissions(workspace: Workspace): Permissions | undefined {
  const file = scanFile(workspace);
  return existsSync(file) ? parsePermissions(readText(file)) : undefined;
}

export function scanFile(workspace: Workspace): string {
  return join(workspace.stateDir, "permissions.json");
}
