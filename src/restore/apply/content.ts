/**
 * Reads the current content of a file or link. Every decision to delete rests on this alone: times, sizes and caches
 * miss writes through memory maps and writes that restore the file's times.
 */
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from "node:fs";
import type { HashName } from "../../base/digest.ts";
import { codeOf, isAbsence } from "../../base/errors.ts";
import { createHasher } from "../../base/runtime.ts";
import type { FsPath } from "./move.ts";

const BLOCK = 1 << 18;
/** Never follows a link and never blocks on a pipe. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

let block: Buffer | undefined;

/**
 * The git blob id of the content, prefixed with "link " for the target of a symbolic link. Undefined for anything
 * else: no file, a directory, a special file, or a file that can't be read or grows while being read.
 */
export function contentId(place: FsPath, hash: HashName): string | undefined {
  let fd: number;
  try {
    fd = openSync(place, READ);
  } catch (error) {
    // The errors that O_NOFOLLOW causes on different systems if the path is a link.
    return ["ELOOP", "EMLINK", "EFTYPE"].includes(codeOf(error) ?? "") ? linkId(place, hash) : undefined;
  }
  try {
    return smallId(fd, hash) ?? largeId(fd, hash);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** Like `contentId`, for bytes already in memory. */
export function idOfBytes(content: Uint8Array, hash: HashName, isLink = false): string {
  const id = createHasher(hash).update(`blob ${content.length}\0`).update(content).digest("hex");
  return isLink ? `link ${id}` : id;
}

/** The id of a file that fits into one block. Most do, which saves the call for the size. */
function smallId(fd: number, hash: HashName): string | undefined {
  block ??= Buffer.allocUnsafe(BLOCK);
  const length = readSync(fd, block, 0, BLOCK, 0);
  // Both an empty file and a pipe return no bytes.
  if (length === 0 || length === BLOCK || readSync(fd, block, length, 1, length) > 0) return undefined;
  return idOfBytes(block.subarray(0, length), hash);
}

function largeId(fd: number, hash: HashName): string | undefined {
  const stat = fstatSync(fd);
  if (!stat.isFile()) return undefined;
  block ??= Buffer.allocUnsafe(BLOCK);
  const hasher = createHasher(hash).update(`blob ${stat.size}\0`);
  let total = 0;
  for (let length = -1; length !== 0; total += length) {
    length = readSync(fd, block, 0, BLOCK, total);
    hasher.update(block.subarray(0, length));
  }
  return total === stat.size ? hasher.digest("hex") : undefined;
}

function linkId(place: FsPath, hash: HashName): string | undefined {
  try {
    return idOfBytes(readlinkSync(place, { encoding: "buffer" }), hash, true);
  } catch (error) {
    if (isAbsence(error) || codeOf(error) === "EINVAL") return undefined;
    throw error;
  }
}
