/** Reads parts of a file that an agent names and may still be writing. Reads are bounded and never block. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/**
 * Calls `read` with the open file and its size; undefined if `path` is not a readable regular file. The path comes from
 * a payload and may name a pipe, which would block forever.
 */
export function withFile<T>(path: string, read: (fd: number, size: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(fd);
    return stat.isFile() ? read(fd, stat.size) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** Returns fewer bytes if the file ends before `end`. */
export function readRange(fd: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - start));
  let length = 0;
  while (length < bytes.length) {
    const got = readSync(fd, bytes, length, bytes.length - length, start + length);
    if (got === 0) break;
    length += got;
  }
  return bytes.subarray(0, length);
}

/** The first line, up to `most` bytes; empty if there is none. */
export function firstLine(path: string, most: number): string {
  const head = withFile(path, (fd, size) => readRange(fd, 0, Math.min(size, most))) ?? Buffer.alloc(0);
  const end = head.indexOf(10);
  return head.toString("utf8", 0, end < 0 ? head.length : end);
}
