/** Moves a single file without ever replacing another: by rename and link if the file system allows, else by copy. */
import {
  type BigIntStats,
  closeSync,
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { codeOf, isAbsence } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { writeAll } from "../../base/fs/files.ts";
import { statOf } from "../../git/index/stat-cache.ts";

export type FsPath = string | Buffer;

/** Identifies a file across renames, as long as it is not written to. */
export function markAt(place: FsPath): string | undefined {
  const stat = safeStat(place);
  return stat && markOf(stat);
}

export function markOf(stat: BigIntStats): string {
  return `${stat.ino}.${stat.size}.${stat.mtimeNs}`;
}

/**
 * Moves a file or link to `to`, a free name in our own directory; false if `from` does not exist. A move to another
 * file system copies: it first renames the file to `beside`, so that no program finds it at its path.
 */
export function moveAside(from: FsPath, to: FsPath, beside: FsPath): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    if (codeOf(error) !== "EXDEV" || safeStat(from)?.isDirectory()) throw error;
  }
  if (safeStat(beside)) throw new Error("an earlier move to another file system was not finished");
  try {
    renameSync(from, beside);
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
  faultPoint("move:beside");
  return finishMove(to, beside);
}

const MAX_COPIES = 5;

/** Completes a move to another file system that began with the rename to `beside`; false if there is none. */
export function finishMove(to: FsPath, beside: FsPath): boolean {
  const part = Buffer.concat([Buffer.from(to), Buffer.from(".part")]);
  for (let attempt = 0; attempt < MAX_COPIES; attempt++) {
    const stat = safeStat(beside);
    if (!stat) return attempt > 0;
    removeIfThere(part);
    copyAnything(beside, part, stat);
    renameSync(part, to);
    faultPoint("move:copied");
    // A program with the file open may have written to it during the copy.
    if (sameContent(beside, to)) {
      unlinkSync(beside);
      return true;
    }
  }
  throw new Error("another process writes to it again and again");
}

/**
 * Moves `from` to `to`. Returns false, without changes, if `to` exists. Never replaces a file. `isFile`: `from` is
 * known to be a regular file.
 */
export function place(from: FsPath, to: FsPath, temporary: FsPath, isFile = false): boolean {
  // On some systems, link() follows symbolic links.
  if (!isFile && lstatSync(from).isSymbolicLink()) return placeLink(from, to);
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return sameFile(from, to) ? drop(from) : false;
    if (!canCopyInstead(error)) throw error;
    return placeWithoutLinks(from, to, temporary);
  }
  return drop(from);
}

function placeLink(from: FsPath, to: FsPath): boolean {
  try {
    symlinkSync(readlinkSync(from, { encoding: "buffer" }), to);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if (!safeStat(to)?.isSymbolicLink() || !sameContent(from, to)) return false;
  }
  return drop(from);
}

/** For another file system, or one without hard links. */
function placeWithoutLinks(from: FsPath, to: FsPath, temporary: FsPath): boolean {
  const stat = lstatSync(from, { bigint: true });
  const there = safeStat(to);
  // An earlier attempt may have placed the file already.
  if (there) return sameContent(from, to) && there.mode === stat.mode ? drop(from) : false;
  removeIfThere(temporary);
  copyAnything(from, temporary, stat);
  faultPoint("move:placing");
  try {
    linkSync(temporary, to);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (!canCopyInstead(error)) throw error;
    // Without hard links a reader may see a half-written file. That is better than replacing an unknown file.
    if (!copyIfFree(from, to, stat)) return false;
  } finally {
    removeIfThere(temporary);
  }
  return drop(from);
}

function copyIfFree(from: FsPath, to: FsPath, stat: BigIntStats): boolean {
  try {
    copyAnything(from, to, stat);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** True for errors that mean the file system can't link, though it may still allow writing. */
function canCopyInstead(error: unknown): boolean {
  return !["ENOENT", "ENOTDIR", "EACCES", "ENOSPC", "EROFS"].includes(codeOf(error) ?? "");
}

function drop(file: FsPath): true {
  unlinkSync(file);
  return true;
}

function removeIfThere(file: FsPath): void {
  if (safeStat(file)) unlinkSync(file);
}

function sameFile(a: FsPath, b: FsPath): boolean {
  const [first, second] = [safeStat(a), safeStat(b)];
  return first !== undefined && second !== undefined && first.ino === second.ino && first.dev === second.dev;
}

function copyAnything(from: FsPath, to: FsPath, stat: BigIntStats): void {
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from, { encoding: "buffer" }), to);
  else copyFile(from, to, Number(stat.mode) & 0o7777);
}

/** Copies by hand because the runtime's copy treats names as text, and names are bytes. Fails if `to` exists. */
function copyFile(from: FsPath, to: FsPath, mode: number): void {
  const source = openSync(from, "r");
  try {
    const target = openSync(to, "wx", mode);
    try {
      const block = Buffer.allocUnsafe(COPY_BLOCK);
      for (let length = readSync(source, block); length > 0; length = readSync(source, block)) {
        writeAll(target, block.subarray(0, length));
      }
      fchmodSync(target, mode);
    } catch (error) {
      // Remove the partial copy, if it is still ours.
      if (safeStat(to)?.ino === fstatSync(target, { bigint: true }).ino) unlinkSync(to);
      throw error;
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

const COPY_BLOCK = 1 << 20;

/** True if both are files with the same bytes or links with the same target. */
function sameContent(a: FsPath, b: FsPath): boolean {
  const [first, second] = [contentAt(a), contentAt(b)];
  return first !== undefined && second !== undefined && first.equals(second);
}

/** A file's bytes or a link's target; undefined for anything else. */
function contentAt(place: FsPath): Buffer | undefined {
  const stat = safeStat(place);
  if (stat?.isSymbolicLink()) return readlinkSync(place, { encoding: "buffer" });
  return stat?.isFile() ? readFileSync(place) : undefined;
}

/** Removes a directory that contains only empty directories; false if it is anything else. */
export function removeEmptyTree(directory: FsPath): boolean {
  if (!safeStat(directory)?.isDirectory()) return false;
  const base = Buffer.concat([Buffer.from(directory), Buffer.from("/")]);
  const inner = readdirSync(directory, { encoding: "buffer" }).map((name) => Buffer.concat([base, name]));
  if (!inner.every((path) => removeEmptyTree(path))) return false;
  rmdirSync(directory);
  return true;
}

/** False if the directory is not empty or does not exist. */
export function removeIfEmpty(directory: FsPath): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOENT" || code === "ENOTDIR" || code === "EBUSY")
      return false;
    if (code === "EACCES" || code === "EPERM") return false;
    throw error;
  }
}

/**
 * Creates one directory; accepts an existing one, fails on anything else. Until it is filled, the owner keeps full
 * access; all other bits are final from the start.
 */
export function makeOne(directory: FsPath, mode?: number): void {
  try {
    mkdirSync(directory, mode === undefined ? {} : { mode: mode | 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST" || !safeStat(directory)?.isDirectory()) throw error;
  }
}

export function safeStat(place: FsPath): BigIntStats | undefined {
  try {
    return statOf(place);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}
