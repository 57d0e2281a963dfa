/**
 * The part of a transcript that is new since the last step. Only the tail is read, however long the
 * conversation is; a transcript that is no longer the one we know begins a new generation.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { TranscriptAnalyser } from "../agents/agent.ts";
import { hexDigest } from "../base/digest.ts";
import { codeOf } from "../base/errors.ts";
import type { TranscriptStretch } from "../transcripts/model.ts";
import type { StoredTranscript } from "./session-state.ts";

const MARK_BYTES = 256;
/** A blob of the store; a long first tail becomes several. */
const SEGMENT_BYTES = 4 << 20;

export interface Tail {
  /** The transcript with this tail stored. */
  stored: StoredTranscript;
  segments: { stream: string; generation: number; offset: number; data: Uint8Array }[];
  /** What the transcript says from `from` on. */
  stretch: TranscriptStretch | null;
  /** It was found shorter or different: a compaction that nobody announced. */
  rewritten: boolean;
}

/**
 * `from` is where the turn began, for what it says; undefined where there is no such file. Bytes behind the last
 * newline are a line that is still being written and wait for the next step, unless the whole is one document.
 */
export function readTail(
  path: string,
  known: StoredTranscript | null,
  from: number,
  analyser: TranscriptAnalyser | undefined,
): Tail | undefined {
  const opened = openTranscript(path);
  if (!opened) return undefined;
  const { fd, size } = opened;
  try {
    const same = known !== null && known.path === path && continues(fd, size, known);
    const generation = known === null ? 0 : same ? known.generation : known.generation + 1;
    const start = same ? known.stored : 0;
    const readFrom = same ? Math.min(from, start) : 0;
    const bytes = readRange(fd, readFrom, size);
    const whole = readFrom === 0 && analyser?.isWhole?.(bytes) === true;
    const end = readFrom + (whole ? bytes.length : bytes.lastIndexOf(10) + 1);
    const fresh = bytes.subarray(start - readFrom, Math.max(end, start) - readFrom);
    const stretch =
      analyser?.readStretch(bytes.subarray(same ? from - readFrom : 0, Math.max(0, end - readFrom)), same ? from : 0) ??
      null;
    return {
      stored: {
        path,
        generation,
        stored: start + fresh.length,
        mark: fresh.length > 0 || !same ? markAt(fd, start + fresh.length) : known.mark,
        lastId: stretch?.lastId ?? (same ? known.lastId : null),
      },
      segments: segmentsOf(fresh, start, generation, "transcript"),
      stretch,
      rewritten: known !== null && !same,
    };
  } finally {
    closeSync(fd);
  }
}

/** The whole of a transcript that ends with its last complete line; undefined where there is none, or one too large. */
export function readWhole(path: string, limit: number): Buffer | undefined {
  const opened = openTranscript(path);
  if (!opened) return undefined;
  const { fd, size } = opened;
  try {
    if (size > limit) return undefined;
    const bytes = readRange(fd, 0, size);
    return bytes.subarray(0, bytes.lastIndexOf(10) + 1);
  } finally {
    closeSync(fd);
  }
}

/** Agents say where their transcript is: a pipe in its place would be waited for without end, a device never ends. */
function openTranscript(path: string): { fd: number; size: number } | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, size: stat.size };
  closeSync(fd);
  throw new Error(`The transcript ${path} is not a regular file.`);
}

export function segmentsOf(data: Buffer, offset: number, generation: number, stream: string): Tail["segments"] {
  const segments: Tail["segments"] = [];
  for (let at = 0; at < data.length; at += SEGMENT_BYTES) {
    segments.push({ stream, generation, offset: offset + at, data: data.subarray(at, at + SEGMENT_BYTES) });
  }
  return segments;
}

/** Whether the file still begins with what was stored: by its size, and by the bytes before the end we know. */
function continues(fd: number, size: number, known: StoredTranscript): boolean {
  if (size < known.stored) return false;
  return known.stored === 0 || markAt(fd, known.stored) === known.mark;
}

function markAt(fd: number, end: number): string {
  return hexDigest("sha1", readRange(fd, Math.max(0, end - MARK_BYTES), end));
}

function readRange(fd: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - start));
  let length = 0;
  while (length < bytes.length) {
    const got = readSync(fd, bytes, length, bytes.length - length, start + length);
    if (got === 0) break;
    length += got;
  }
  return bytes.subarray(0, length);
}
