/** Files of ours: written whole or not at all, private to the user, read without surprises. */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
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
import { codeOf, isAbsence } from "./errors.ts";

const NEWLINE = 10;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

export function makeDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
}

/**
 * A name for what is renamed to `path` when it is whole. It tells whose it is, whatever `path` is; a process id alone
 * comes back, and a killed process with the same one may have left its file behind.
 */
export function temporaryBeside(path: string): string {
  return `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`;
}

/** Replaces `path` by a temporary file and a rename, so that a reader sees the old or the new, never half. */
export function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: { mode?: number; sync?: boolean } = {},
): void {
  const temporary = temporaryBeside(path);
  const write = () => {
    const fd = openSync(temporary, "wx", options.mode ?? PRIVATE_FILE);
    try {
      writeAll(fd, typeof content === "string" ? Buffer.from(content) : content);
      if (options.sync) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  };
  try {
    try {
      write();
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      makeDirectory(dirname(path));
      write();
    }
    renameSync(temporary, path);
    if (options.sync) syncDirectory(dirname(path));
  } catch (error) {
    removeFile(temporary);
    throw error;
  }
}

/** A renamed file is still its old name after a power cut until its directory is on the disk as well. */
function syncDirectory(path: string): void {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    fsyncSync(fd);
  } catch {
    // Not every system can do that with a directory; the file itself is on the disk.
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function writeJson(path: string, value: unknown, options: { sync?: boolean } = {}): void {
  writeFileAtomic(path, `${JSON.stringify(value)}\n`, options);
}

/** The parsed file, or undefined where there is none. Throws on unreadable or invalid content. */
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
 * One line at the end of a file. O_APPEND keeps concurrent writers' lines whole, and a line that a killed process left torn
 * does not swallow this one. Gives the inode that it was written to.
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
    const { ino, size } = fstatSync(fd);
    writeAll(fd, Buffer.from(`${endsTorn(fd, size) ? "\n" : ""}${line}\n`));
    return ino;
  } finally {
    closeSync(fd);
  }
}

function endsTorn(fd: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE;
}

/** What is in a directory; nothing where there is none. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

/** Removes a file; one that is not there is fine. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
}

/** `write` may take less than it was given (a signal, a disk that is nearly full). */
export function writeAll(fd: number, content: Uint8Array): void {
  let offset = 0;
  while (offset < content.length) offset += writeSync(fd, content, offset, content.length - offset);
}
