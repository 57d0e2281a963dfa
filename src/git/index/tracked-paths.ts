/** Lists tracked files by reading the index itself, which is faster than asking git. */
import { readFileSync, statSync } from "node:fs";
import { decodePath } from "../../base/fs/path-bytes.ts";

export interface IndexedPath {
  path: string;
  /** The type and the permissions as the index has them, such as 0o100644. */
  mode: number;
}

/** More than an entry takes on average, so that a large index is not read at all. */
const USUAL_BYTES = 256;
const COUNT_AT = 8;
const HEADER_BYTES = 12;
/** Where these are in an entry: the mode follows the file's times, the flags follow its sizes and a SHA-1. */
const AT = { changed: 0, modified: 8, mode: 24, id: 40, flags: 60 } as const;
const EXTENDED = 0x4000;
/** The stage of a conflict, and `--assume-unchanged`. */
const STAGE_OR_ASSUMED = 0xb000;
const SKIP_WORKTREE = 0x4000;
/** The length of a name, or this for a longer one. */
const LONGEST = 0xfff;
const VERSIONS = [2, 3];

/** A time as the index has it. */
export interface IndexTime {
  seconds: number;
  nanoseconds: number;
}

/** An entry with the times of its file when git last compared the two. */
export interface TimedEntry extends IndexedPath {
  id: string;
  changed: IndexTime;
  modified: IndexTime;
}

/** Undefined if the index has more entries than that, or is of a form that only git reads. */
export function pathsOfSmallIndex(file: string, limit: number): IndexedPath[] | undefined {
  try {
    if (statSync(file).size > limit * USUAL_BYTES) return undefined;
    const bytes = readFileSync(file);
    if (bytes.readUInt32BE(COUNT_AT) > limit) return undefined;
    const paths: IndexedPath[] = [];
    const isWhole = eachEntry(bytes, (at, nameAt, end) => {
      paths.push({ path: decodePath(bytes.subarray(nameAt, end)), mode: bytes.readUInt32BE(at + AT.mode) });
    });
    return isWhole ? paths : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The entries that git compares with files which changed last in this second or later, and the newest such second of
 * all. Undefined if the index is of a form that only git reads.
 */
export function entriesChangedSince(
  file: string,
  since: number,
): { entries: TimedEntry[]; newest: number } | undefined {
  const bytes = readFileSync(file);
  const timeAt = (at: number): IndexTime => ({
    seconds: bytes.readUInt32BE(at),
    nanoseconds: bytes.readUInt32BE(at + 4),
  });
  const entries: TimedEntry[] = [];
  let newest = 0;
  const isWhole = eachEntry(bytes, (at, nameAt, end) => {
    const seconds = bytes.readUInt32BE(at + AT.changed);
    if (seconds > newest) newest = seconds;
    if (seconds < since) return;
    const flags = bytes.readUInt16BE(at + AT.flags);
    const more = (flags & EXTENDED) === 0 ? 0 : bytes.readUInt16BE(at + AT.flags + 2);
    if ((flags & STAGE_OR_ASSUMED) !== 0 || (more & SKIP_WORKTREE) !== 0) return;
    entries.push({
      path: decodePath(bytes.subarray(nameAt, end)),
      mode: bytes.readUInt32BE(at + AT.mode),
      id: bytes.toString("hex", at + AT.id, at + AT.flags),
      changed: timeAt(at + AT.changed),
      modified: timeAt(at + AT.modified),
    });
  });
  return isWhole ? { entries, newest } : undefined;
}

/** False if the index is of a form that only git reads. */
function eachEntry(bytes: Buffer, visit: (at: number, nameAt: number, end: number) => void): boolean {
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || !VERSIONS.includes(bytes.readUInt32BE(4))) return false;
  let at = HEADER_BYTES;
  for (let left = bytes.readUInt32BE(COUNT_AT); left > 0; left--) {
    const flags = bytes.readUInt16BE(at + AT.flags);
    const name = at + AT.flags + ((flags & EXTENDED) === 0 ? 2 : 4);
    const end = bytes.indexOf(0, name);
    const length = flags & LONGEST;
    if (end <= name || (length !== LONGEST && length !== end - name)) return false;
    visit(at, name, end);
    // Each entry is filled up with one to eight NULs.
    at += (end - at + 8) & ~7;
  }
  return true;
}
