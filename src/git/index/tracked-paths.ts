/** Lists the tracked files by reading the index itself: for a small one that is faster than asking git. */
import { readFileSync, statSync } from "node:fs";
import { decodePath } from "../../base/fs/path-bytes.ts";

export interface IndexedPath {
  path: string;
  /** The type and the permissions as the index has them, such as 0o100644. */
  mode: number;
}

/** More than an entry takes on average, so that a large index is not read at all. */
const USUAL_BYTES = 256;
const HEADER_BYTES = 12;
/** Where these are in an entry: the mode follows the file's times, the flags follow its sizes and a SHA-1. */
const AT = { mode: 24, flags: 60 } as const;
const EXTENDED = 0x4000;
/** The length of a name, or this for a longer one. */
const LONGEST = 0xfff;
const VERSIONS = [2, 3];

/** Undefined if the index has more entries than that, or is of a form that only git reads. */
export function pathsOfSmallIndex(file: string, limit: number): IndexedPath[] | undefined {
  try {
    return statSync(file).size > limit * USUAL_BYTES ? undefined : readPaths(readFileSync(file), limit);
  } catch {
    return undefined;
  }
}

function readPaths(bytes: Buffer, limit: number): IndexedPath[] | undefined {
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || !VERSIONS.includes(bytes.readUInt32BE(4))) return undefined;
  if (bytes.readUInt32BE(8) > limit) return undefined;
  const paths: IndexedPath[] = [];
  let at = HEADER_BYTES;
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flags = bytes.readUInt16BE(at + AT.flags);
    const name = at + AT.flags + ((flags & EXTENDED) === 0 ? 2 : 4);
    const end = bytes.indexOf(0, name);
    const length = flags & LONGEST;
    if (end <= name || (length !== LONGEST && length !== end - name)) return undefined;
    paths.push({ path: decodePath(bytes.subarray(name, end)), mode: bytes.readUInt32BE(at + AT.mode) });
    // Each entry is filled up with one to eight NULs.
    at += (end - at + 8) & ~7;
  }
  return paths;
}
