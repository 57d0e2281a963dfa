/** Reads and writes Backtrail's own files: atomically, and private to the user. */

import type { Dirent, Stats } from "node:fs";
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { codeOf, isAbsence } from "../errors.ts";

const NEWLINE = 10;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

/** Undefined if there is no such path, also because a file is in place of a directory of the path. */
export function statIfPresent(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

export function makeDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
}

/**
 * A temporary name for a file that is renamed to `path` once complete. The name includes the process id for cleanup,
 * and a random part because ids are reused and a killed process may have left its file.
 */
export function temporaryBeside(path: string): string {
  return `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`;
}

/**
 * Replaces `path` through a temporary file and a rename, so that a reader sees the old or the new content, never a mix.
 * The temporary file is next to `path`, or next to `beside` on the same file system, where cleanup after a killed
 * process finds it.
 */
export function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: { mode?: number; sync?: boolean; beside?: string } = {},
): void {
  const temporary = temporaryBeside(options.beside ?? path);
  const write = () => {
    const fd = openSync(temporary, "wx", options.mode ?? PRIVATE_FILE);
    try {
      writeAll(fd, typeof content === "string" ? Buffer.from(content) : content);
      if (options.sync) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  };
  const inDirectory = (work: () => void) => {
    try {
      work();
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      makeDirectory(dirname(path));
      work();
    }
  };
  try {
    inDirectory(write);
    inDirectory(() => renameSync(temporary, path));
    if (options.sync) syncDirectory(dirname(path));
  } catch (error) {
    removeFile(temporary);
    throw error;
  }
}

/** After a power cut, a rename may be lost until its directory is synced too. */
function syncDirectory(path: string): void {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    fsyncSync(fd);
  } catch {
    // Not every system can sync a directory; the file itself is synced.
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function writeJson(path: string, value: unknown, options: { sync?: boolean; beside?: string } = {}): void {
  writeFileAtomic(path, `${JSON.stringify(value)}\n`, options);
}

/** Parses the file; undefined if it does not exist. Throws on unreadable or invalid content. */
export function readJson(path: string): unknown {
  const text = readText(path);
  return text === undefined ? undefined : JSON.parse(text);
}

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/**
 * Appends a line. O_APPEND keeps lines of concurrent writers intact, and a partial line left by a killed process does
 * not swallow this one. Returns the file's inode.
 */
export function appendLine(path: string, line: string): number {
  const append = () => openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, PRIVATE_FILE);
  let fd: number;
  try {
    fd = append();
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    makeDirectory(dirname(path));
    fd = append();
  }
  try {
    return appendTo(fd, line);
  } finally {
    closeSync(fd);
  }
}

/** Like `appendLine`, for a file that is open for reading and appending. */
export function appendTo(fd: number, line: string): number {
  const { ino, size } = fstatSync(fd);
  writeAll(fd, Buffer.from(`${endsTorn(fd, size) ? "\n" : ""}${line}\n`));
  return ino;
}

function endsTorn(fd: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE;
}

/** The names in a directory; empty if the directory does not exist. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

/** The entries of a directory; none if it cannot be read. */
export function entriesIn(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Removes a file if it exists. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
}

/** Loops because `write` may write less than requested (a signal, a nearly full disk). */
export function writeAll(fd: number, content: Uint8Array): void {
  let offset = 0;
  while (offset < content.length) offset += writeSync(fd, content, offset, content.length - offset);
}
