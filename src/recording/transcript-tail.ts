/**
 * Reads the part of a transcript that is new since the last step. Reads only the tail, however long the conversation
 * is; a transcript that was rewritten begins a new generation.
 */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { TranscriptAnalyzer } from "../agents/contract/agent.ts";
import { hexDigest } from "../base/digest.ts";
import { codeOf } from "../base/errors.ts";
import type { TranscriptSlice } from "../model/conversation.ts";
import { readRange } from "../transcripts/file-bytes.ts";
import type { StoredTranscript } from "./session/store.ts";

const MARK_BYTES = 256;
/** The maximum size of one stored blob; a longer tail becomes several segments. */
const SEGMENT_BYTES = 4 << 20;

export interface Tail {
  /** The transcript's state once this tail is stored. */
  stored: StoredTranscript;
  segments: { stream: string; generation: number; offset: number; data: Uint8Array }[];
  /** The conversation from `from` on. */
  slice: TranscriptSlice | null;
  /** The transcript became shorter or different: a compaction that the agent did not announce. */
  rewritten: boolean;
}

/**
 * Reads the turn's slice from the offset `from`, where the turn began. Returns undefined if the file does not exist.
 * A trailing partial line is left for the next step, unless the transcript is one document. In a document, which the
 * agent rewrites as a whole, the turn begins after the entry `after`.
 */
export function readTail(
  path: string,
  known: StoredTranscript | null,
  from: number,
  analyzer: TranscriptAnalyzer | undefined,
  after: string | null = null,
): Tail | undefined {
  const opened = openTranscript(path);
  if (!opened) return undefined;
  const { fd, size } = opened;
  try {
    const same = known !== null && known.path === path && continues(fd, size, known);
    const generation = known === null ? 0 : same ? known.generation : known.generation + 1;
    const start = same ? known.stored : 0;
    const turnStart = same && known.document !== true ? from : 0;
    const readFrom = Math.min(turnStart, start);
    const bytes = readRange(fd, readFrom, size);
    const whole = readFrom === 0 && analyzer?.isWhole?.(bytes) === true;
    const end = readFrom + (whole ? bytes.length : bytes.lastIndexOf(10) + 1);
    const fresh = bytes.subarray(start - readFrom, Math.max(end, start) - readFrom);
    const said = bytes.subarray(turnStart - readFrom, Math.max(0, end - readFrom));
    const slice = analyzer?.readSlice(said, turnStart, whole ? after : null) ?? null;
    return {
      stored: {
        path,
        generation,
        stored: start + fresh.length,
        mark: fresh.length > 0 || !same ? markAt(fd, start + fresh.length) : known.mark,
        lastId: slice?.lastId ?? (same || whole ? (known?.lastId ?? null) : null),
        ...(whole ? { document: true } : {}),
      },
      segments: segmentsOf(fresh, start, generation, "transcript"),
      slice,
      rewritten: known !== null && !same,
    };
  } finally {
    closeSync(fd);
  }
}

/** The transcript up to its last complete line; undefined if the file is missing or larger than `limit`. */
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

/** Accepts regular files only: the path comes from the agent, a pipe could block forever, and a device never ends. */
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

/** Whether the file still begins with the stored part, judging by its size and the last bytes of that part. */
function continues(fd: number, size: number, known: StoredTranscript): boolean {
  if (size < known.stored) return false;
  return known.stored === 0 || markAt(fd, known.stored) === known.mark;
}

function markAt(fd: number, end: number): string {
  return hexDigest("sha1", readRange(fd, Math.max(0, end - MARK_BYTES), end));
}
