/** Moving one file without ever replacing another: by rename and link where the file system allows, else by copy. */
import {
  type BigIntStats,
  closeSync,
  fchmodSync,
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
import { codeOf, isAbsence } from "../base/errors.ts";
import { writeAll } from "../base/files.ts";
import { statOf } from "../git/stat-cache.ts";

export type Place = string | Buffer;

/** Identifies a file across renames, as long as nobody writes to it. */
export function markAt(place: Place): string | undefined {
  const stat = safeStat(place);
  return stat && markOf(stat);
}

export function markOf(stat: BigIntStats): string {
  return `${stat.ino}.${stat.size}.${stat.mtimeNs}`;
}

/** From anything at `from` to `to`, where nothing may stand; false when there was nothing to move. */
export function moveAside(from: Place, to: Place): boolean {
  try {
    renameSync(from, to);
  } catch (error) {
    if (isAbsence(error)) return false;
    if (codeOf(error) !== "EXDEV") throw error;
    const stat = safeStat(from);
    if (!stat) return false;
    if (stat.isDirectory()) throw error;
    // Whole or not at all, also if this process is killed.
    const temporary = Buffer.concat([Buffer.from(to), Buffer.from(".part")]);
    if (safeStat(temporary)) unlinkSync(temporary);
    copyAnything(from, temporary, stat);
    renameSync(temporary, to);
    unlinkSync(from);
  }
  return true;
}

/** Puts `from` at `to` unless something stands there: then false, and nothing has happened. */
export function place(from: Place, to: Place, temporary: Place): boolean {
  // Some systems make a hard link of what a symbolic link leads to.
  if (lstatSync(from).isSymbolicLink()) return placeLink(from, to);
  try {
    linkSync(from, to);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return sameFile(from, to) ? drop(from) : false;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES" || code === "ENOSPC" || code === "EROFS")
      throw error;
    return placeWithoutLinks(from, to, temporary);
  }
  return drop(from);
}

function placeLink(from: Place, to: Place): boolean {
  try {
    symlinkSync(readlinkSync(from, { encoding: "buffer" }), to);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if (!safeStat(to)?.isSymbolicLink() || !sameContent(from, to)) return false;
  }
  return drop(from);
}

/** File systems without hard links, or another file system altogether. */
function placeWithoutLinks(from: Place, to: Place, temporary: Place): boolean {
  const stat = lstatSync(from, { bigint: true });
  const there = safeStat(to);
  if (there) return sameContent(from, to) && there.mode === stat.mode ? drop(from) : false;
  if (safeStat(temporary)) unlinkSync(temporary);
  copyAnything(from, temporary, stat);
  renameSync(temporary, to);
  return drop(from);
}

function drop(file: Place): true {
  unlinkSync(file);
  return true;
}

function sameFile(a: Place, b: Place): boolean {
  const [first, second] = [safeStat(a), safeStat(b)];
  return first !== undefined && second !== undefined && first.ino === second.ino && first.dev === second.dev;
}

function copyAnything(from: Place, to: Place, stat: BigIntStats): void {
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from, { encoding: "buffer" }), to);
  else copyFile(from, to, Number(stat.mode) & 0o777);
}

/** By hand: the runtime's own copy takes names for text, and names are bytes. */
function copyFile(from: Place, to: Place, mode: number): void {
  const source = openSync(from, "r");
  try {
    const target = openSync(to, "wx", mode);
    try {
      const block = Buffer.allocUnsafe(COPY_BLOCK);
      for (let length = readSync(source, block); length > 0; length = readSync(source, block)) {
        writeAll(target, block.subarray(0, length));
      }
      fchmodSync(target, mode);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

const COPY_BLOCK = 1 << 20;

/** Whether both are files with the same bytes, or links with the same target. */
export function sameContent(a: Place, b: Place): boolean {
  const [first, second] = [contentAt(a), contentAt(b)];
  return first !== undefined && second !== undefined && first.equals(second);
}

/** A file's bytes, a link's target; undefined for anything else. */
export function contentAt(place: Place): Buffer | undefined {
  const stat = safeStat(place);
  if (stat?.isSymbolicLink()) return readlinkSync(place, { encoding: "buffer" });
  return stat?.isFile() ? readFileSync(place) : undefined;
}

/** Whether `path`, if it is a directory, held nothing but empty directories and is now gone. */
export function removeEmptyTree(directory: Place): boolean {
  if (!safeStat(directory)?.isDirectory()) return false;
  const base = Buffer.concat([Buffer.from(directory), Buffer.from("/")]);
  const inner = readdirSync(directory, { encoding: "buffer" }).map((name) => Buffer.concat([base, name]));
  if (!inner.every((path) => removeEmptyTree(path))) return false;
  rmdirSync(directory);
  return true;
}

/** False where it is not empty, or not there. */
export function removeIfEmpty(directory: Place): boolean {
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

/** Makes one directory; one that is there is fine, anything else in its place is an error. */
export function makeOne(directory: Place): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    if (codeOf(error) !== "EEXIST" || !safeStat(directory)?.isDirectory()) throw error;
  }
}

export function safeStat(place: Place): BigIntStats | undefined {
  try {
    return statOf(place);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}
