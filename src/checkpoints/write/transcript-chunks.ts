/**
 * Stores a conversation as checkpoint chunks, cut at line ends of the original. A conversation that only grew keeps all
 * chunks but the last, so nothing is redacted or stored twice.
 */
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { readJson, writeJson } from "../../base/fs/files.ts";
import { createHasher } from "../../base/runtime.ts";
import type { ObjectStore } from "../../git/objects/object-store.ts";
import type { Workspace } from "../../git/workspace.ts";
import { readTranscript } from "../../steps/conversation/transcript.ts";
import { MAX_CHUNK, splitLines } from "../../transcripts/chunks.ts";
import { isOneDocument } from "../../transcripts/lines.ts";
import type { TranscriptPosition } from "./pending.ts";
import type { Redaction } from "./redaction.ts";

const CHUNK_BYTES = 1 << 20;
/** Hosts reject files of 100 MiB, and a single line can be that large. */
const MAX_BLOB = 95 * 1024 * 1024;
const NEWLINE = 10;
const LINE_END = Buffer.of(NEWLINE);

export interface Chunks {
  /** Blobs, in order. */
  ids: string[];
  /** `sha256:<hex>` of the whole conversation, as readers join it. */
  hash: string;
  /** The number of lines before this checkpoint's part. */
  linesBefore: number;
}

interface KnownChunks {
  v: 1;
  generation: number;
  redaction: string;
  /** A hash of the original bytes, and the id of the stored blob. */
  chunks: { raw: string; id: string }[];
}

export async function storeChunks(
  workspace: Workspace,
  { reader, writer }: ObjectStore,
  redaction: Redaction,
  key: string,
  since: TranscriptPosition,
  until: TranscriptPosition,
): Promise<Chunks> {
  const raw = await readTranscript(workspace, key, until.generation, until.offset);
  const file = chunksFile(workspace, key);
  const before = knownChunks(file, until.generation, redaction.version);
  // Readers of the format split a document between messages, so don't cut one unless it is too large.
  const pieces = splitLines(raw, isOneDocument(raw) ? MAX_CHUNK : CHUNK_BYTES);
  const chunks: KnownChunks["chunks"] = [];
  const hasher = createHasher("sha256");
  for (const [i, piece] of pieces.entries()) {
    const mark = hexDigest("sha1", piece);
    const last = before[i];
    const stored = last?.raw === mark ? await reader.read(last.id) : undefined;
    const known = stored?.type === "blob" ? stored : undefined;
    const data = joint(known?.data ?? fitting(redaction.transcript(piece)), i === pieces.length - 1, piece);
    if (i > 0) hasher.update(LINE_END);
    hasher.update(data);
    chunks.push({ raw: mark, id: known && data === known.data ? known.id : writer.add("blob", data) });
  }
  writeJson(file, { v: 1, generation: until.generation, redaction: redaction.version, chunks } satisfies KnownChunks);
  const earlier = since.generation === until.generation ? raw.subarray(0, since.offset) : Buffer.alloc(0);
  return { ids: chunks.map(({ id }) => id), hash: `sha256:${hasher.digest("hex")}`, linesBefore: countLines(earlier) };
}

/** Readers of the format join chunks with a line end, so only the last chunk keeps its own. */
export function joint(data: Uint8Array, isLast: boolean, raw: Uint8Array): Uint8Array {
  const ends = data.at(-1) === NEWLINE;
  if (ends === (isLast && raw.at(-1) === NEWLINE)) return data;
  return ends ? data.subarray(0, -1) : Buffer.concat([data, LINE_END]);
}

/** Replaces a record that is too large for any host by a short note. The steps keep the whole record. */
export function fitting(bytes: Uint8Array, most: number = MAX_BLOB): Uint8Array {
  if (bytes.length <= most) return bytes;
  return Buffer.from(`${JSON.stringify({ type: "backtrail-left-out", bytes: bytes.length })}\n`);
}

/** Blobs of a session's conversation that were redacted here, so that their placeholders belong to this store. */
export function ownChunks(workspace: Workspace, key: string): Set<string> {
  try {
    const known = readJson(chunksFile(workspace, key)) as KnownChunks | undefined;
    return new Set(known?.v === 1 && Array.isArray(known.chunks) ? known.chunks.map(({ id }) => id) : []);
  } catch {
    return new Set();
  }
}

function chunksFile(workspace: Workspace, key: string): string {
  return join(workspace.storeDir, "checkpoints", "chunks", `${key}.json`);
}

function knownChunks(file: string, generation: number, redaction: string): KnownChunks["chunks"] {
  try {
    const known = readJson(file) as KnownChunks | undefined;
    const fits = known?.v === 1 && known.generation === generation && known.redaction === redaction;
    return fits && Array.isArray(known.chunks) ? known.chunks : [];
  } catch {
    return [];
  }
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
