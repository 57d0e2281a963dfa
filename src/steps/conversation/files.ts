/**
 * Stores conversations as files that only the user can read: `conversations/<session key>/` in the store. They are not
 * git objects: no clone, bundle or push includes them, and deleting them is final. See docs/formats/steps.md.
 *
 *     steps.jsonl                          second copy of the session's step records
 *     kept.jsonl                           records of expired turns (kept.ts)
 *     transcript/<generation>/<offset>.z   the conversation, one segment per step
 *     tasks/<step id>/0/<offset>.z         the conversations of subagents
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { faultPoint } from "../../base/fault-point.ts";
import { namesIn, removeFile, writeFileAtomic } from "../../base/fs/files.ts";
import { deflate, inflate } from "../../base/runtime.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { rewriteRecords } from "../index-file.ts";

/** A stored part of a transcript. */
export interface Segment {
  /** "transcript" or "tasks/<step id>". */
  stream: string;
  generation: number;
  /** The offset in the transcript at which the segment begins. */
  offset: number;
  data: Uint8Array;
}

export interface StoredSegment {
  offset: number;
  /** Undefined if the file is damaged. */
  data: Buffer | undefined;
}

const SEGMENT_NAME = /^(\d{14})\.z$/;
export const KEPT_RECORDS = "kept.jsonl";
const SESSION_KEY = /^[0-9a-f]{20}$/;
/** Hooks store larger segments uncompressed; the worker joins and compresses them later. */
const MAX_COMPRESSED_AT_ONCE = 1 << 20;
/** The maximum number of transcript bytes in one joined file. */
const MAX_JOINED = 4 << 20;

export function conversationDirectory({ storeDir }: Pick<Workspace, "storeDir">, key: string): string {
  return join(storeDir, "conversations", key);
}

/** The second copy of a session's step records. */
export function recordsFile(workspace: Pick<Workspace, "storeDir">, key: string): string {
  return join(conversationDirectory(workspace, key), "steps.jsonl");
}

/** Keys of the sessions that have files here. */
export function conversationKeys({ storeDir }: Pick<Workspace, "storeDir">): string[] {
  return namesIn(join(storeDir, "conversations")).filter((name) => SESSION_KEY.test(name));
}

/** Replaces a segment at the same offset, which a killed process left or which is a shorter prefix of this one. */
export function writeSegment(directory: string, segment: Segment): void {
  const level = segment.data.length > MAX_COMPRESSED_AT_ONCE ? 0 : 1;
  put(directory, segmentFile(directory, segment), deflate(segment.data, level), false);
}

/**
 * Replaces a stream's files with as few files as possible that hold `segments`, synced to disk. If the process is
 * killed in between, old and new files overlap but agree.
 */
export function rewriteStream(
  directory: string,
  stream: string,
  generation: number,
  segments: readonly StoredSegment[],
): void {
  const kept = new Set<string>();
  for (const { offset, data } of runsOf(segments)) {
    for (let at = 0; at < data.length; at += MAX_JOINED) {
      const file = segmentFile(directory, { stream, generation, offset: offset + at });
      put(directory, file, deflate(data.subarray(at, at + MAX_JOINED), 1), true);
      kept.add(basename(file));
    }
  }
  faultPoint("conversation:joined");
  const folder = join(directory, stream, String(generation));
  for (const name of namesIn(folder)) if (SEGMENT_NAME.test(name) && !kept.has(name)) removeFile(join(folder, name));
}

/** Creates temporary files next to the session's directory, to find leftovers without scanning every session. */
function put(directory: string, file: string, content: Uint8Array, sync: boolean): void {
  writeFileAtomic(file, content, { sync, beside: `${directory}.segment` });
}

/** Rewrites the second copy of a session's records with the result of `records`. */
export function rewriteSessionRecords(
  workspace: Pick<Workspace, "storeDir">,
  key: string,
  records: (listed: Step[]) => readonly Step[],
): void {
  rewriteRecords(recordsFile(workspace, key), records, `${conversationDirectory(workspace, key)}.steps`);
}

/** Joins segments that follow each other without a gap. */
function runsOf(segments: readonly StoredSegment[]): { offset: number; data: Buffer }[] {
  const runs: { offset: number; end: number; parts: Buffer[] }[] = [];
  for (const { offset, data } of [...segments].sort((a, b) => a.offset - b.offset)) {
    const run = runs.at(-1);
    if (data === undefined || (run && offset + data.length <= run.end)) continue;
    if (run && offset <= run.end) run.parts.push(data.subarray(run.end - offset));
    else runs.push({ offset, end: offset, parts: [data] });
    const last = runs.at(-1);
    if (last) last.end = offset + data.length;
  }
  return runs.map(({ offset, parts }) => ({ offset, data: Buffer.concat(parts) }));
}

export function segmentFile(directory: string, { stream, generation, offset }: Omit<Segment, "data">): string {
  return join(directory, stream, String(generation), `${String(offset).padStart(14, "0")}.z`);
}

/** The segments that begin before `end`, sorted by offset. */
export function readSegments(directory: string, stream: string, generation: number, end: number): StoredSegment[] {
  const folder = join(directory, stream, String(generation));
  return namesIn(folder)
    .sort()
    .flatMap((name) => {
      const offset = Number(SEGMENT_NAME.exec(name)?.[1] ?? Number.NaN);
      return offset < end ? [{ offset, data: contentOf(join(folder, name)) }] : [];
    });
}

/** Whether any part of a session's transcript is stored in files. */
export function hasTranscript(workspace: Pick<Workspace, "storeDir">, key: string, generation: number): boolean {
  return existsSync(join(conversationDirectory(workspace, key), "transcript", String(generation)));
}

/** Segments may overlap if a save was repeated after a crash; reading stops at a gap or a damaged file. */
export function joinSegments(segments: readonly StoredSegment[], end: number): Buffer {
  const parts: Buffer[] = [];
  let position = 0;
  for (const { offset, data } of segments) {
    if (offset > position) break;
    if (data === undefined || offset + data.length <= position) continue;
    const part = data.subarray(position - offset, Math.min(data.length, end - offset));
    parts.push(part);
    position += part.length;
  }
  return Buffer.concat(parts);
}

/** Deletes a session's conversation, including its step records. */
export function removeConversation(workspace: Pick<Workspace, "storeDir">, key: string): void {
  rmSync(conversationDirectory(workspace, key), { recursive: true, force: true });
}

/** Deletes a session's conversation, but not its step records. */
export function removeTranscripts(workspace: Pick<Workspace, "storeDir">, key: string): void {
  for (const stream of ["transcript", "tasks", KEPT_RECORDS])
    rmSync(join(conversationDirectory(workspace, key), stream), { recursive: true, force: true });
}

function contentOf(file: string): Buffer | undefined {
  try {
    return inflate(readFileSync(file));
  } catch {
    return undefined;
  }
}
