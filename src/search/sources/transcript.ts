/**
 * Indexes a transcript, from the agent's own file or from a stored copy. Reads only what was appended since the last
 * time; a transcript that was rewritten is indexed from its beginning.
 */
import type { TranscriptAnalyzer } from "../../agents/contract/agent.ts";
import { hexDigest } from "../../base/digest.ts";
import { faultPoint } from "../../base/fault-point.ts";
import type { Conversation, ConversationName, NewDocument } from "../index/documents.ts";
import type { SearchIndex } from "../index/store.ts";
import { documentsOf, type Position } from "./documents.ts";
import type { IndexRedaction } from "./redaction.ts";
import type { TranscriptBytes } from "./transcript-bytes.ts";

const NEWLINE = 10;
/** Transcripts are read in pieces of about this size, so that memory does not grow with them. */
const PIECE_BYTES = 1 << 20;
/** Longer lines hold images or other data; they are skipped. */
const MAX_LINE = 16 << 20;
/** An agent writes a document as a whole, so it can't be read in pieces. */
const MAX_DOCUMENT = 64 << 20;
const MARK_BYTES = 256;

export interface TranscriptSource extends ConversationName {
  repository: string | null;
  store: string | null;
  origin: string;
  /** The transcript is one JSON document instead of lines. */
  isDocument: boolean;
  /** For a copy: when it was made, in milliseconds since 1970. Earlier entries belong to the original. */
  copiedAt?: number | undefined;
}

export interface Progress {
  /** Called after each piece with its number of bytes. False stops: the rest is indexed the next time. */
  keepsGoing(bytes: number): boolean;
}

/** Returns false if there is more to index. */
export function indexTranscript(
  index: SearchIndex,
  source: TranscriptSource,
  bytes: TranscriptBytes,
  analyzer: TranscriptAnalyzer,
  redaction: IndexRedaction,
  progress: Progress,
): boolean {
  const { isDocument: _, copiedAt: __, ...named } = source;
  const known = index.find(source);
  const fresh: Omit<Conversation, "id"> = {
    ...named,
    ...{ size: 0, modified: 0, offset: 0, generation: 0, mark: "", turns: 0, title: null, model: null },
  };
  const isAppended = known !== undefined && isPrefix(known, bytes) && !source.isDocument;
  const next = {
    ...fresh,
    ...(known && isAppended ? { ...known, ...named } : { generation: (known?.generation ?? -1) + 1 }),
  };
  let first = known !== undefined && !isAppended;
  for (;;) {
    const piece = source.isDocument ? wholeDocument(bytes) : pieceAt(bytes, next.offset);
    const isLast = piece === undefined || piece.end >= bytes.size || source.isDocument;
    const row = piece ? afterPiece(next, piece, source) : next;
    // Size and time are those of the whole file only once all of it is indexed.
    if (isLast) Object.assign(row, { size: bytes.size, modified: Math.round(bytes.modified) });
    // What can't be read must not take a batch of other transcripts with it, so it is read before.
    const documents = piece && piece.data.length > 0 ? readPiece(row, piece, source, analyzer, redaction) : [];
    index.transaction(() => {
      const id = index.save(row);
      if (first) index.removeDocuments(id);
      for (const document of documents) index.add(id, document);
      faultPoint("search:piece");
    });
    Object.assign(next, row);
    first = false;
    const isWanted = progress.keepsGoing((piece?.end ?? 0) - (piece?.start ?? 0));
    if (isLast) return true;
    if (!isWanted) return false;
  }

  function afterPiece(row: Omit<Conversation, "id">, piece: Piece, { isDocument }: TranscriptSource) {
    const offset = isDocument ? 0 : piece.end;
    return { ...row, offset, mark: markAt(bytes, offset) };
  }
}

/** The texts of a piece. Facts about the conversation go into `row`. */
function readPiece(
  row: Omit<Conversation, "id">,
  piece: Piece,
  source: TranscriptSource,
  analyzer: TranscriptAnalyzer,
  redaction: IndexRedaction,
): NewDocument[] {
  const redacted = redaction.transcript(piece.data, source.isDocument ? "json" : "jsonl");
  const { entries, title, model } = analyzer.read(redacted.bytes);
  const position: Position = { turns: row.turns, time: row.modified };
  const offsetOf = ({ start }: { start: number }) => piece.start + redacted.originalOffset(start);
  const { copiedAt = 0 } = source;
  const isOwn = ({ time }: NewDocument) => time === 0 || time >= copiedAt;
  const documents = [...documentsOf(entries, position, offsetOf)].filter(isOwn);
  row.turns = position.turns;
  row.title = title ?? row.title;
  row.model = model ?? row.model;
  return documents;
}

interface Piece {
  start: number;
  end: number;
  /** Whole lines; empty for a line that is too long. */
  data: Buffer;
}

/** The next whole lines; undefined if there is none. */
function pieceAt(bytes: TranscriptBytes, start: number): Piece | undefined {
  for (let length = PIECE_BYTES; ; length *= 2) {
    const data = bytes.read(start, Math.min(bytes.size, start + length));
    const end = data.lastIndexOf(NEWLINE) + 1;
    if (end > 0) return { start, end: start + end, data: data.subarray(0, end) };
    if (start + length >= bytes.size) return undefined;
    if (length >= MAX_LINE) return skippedLine(bytes, start);
  }
}

function skippedLine(bytes: TranscriptBytes, start: number): Piece | undefined {
  for (let at = start; at < bytes.size; at += PIECE_BYTES) {
    const newline = bytes.read(at, Math.min(bytes.size, at + PIECE_BYTES)).indexOf(NEWLINE);
    if (newline >= 0) return { start, end: at + newline + 1, data: Buffer.alloc(0) };
  }
  return undefined;
}

function wholeDocument(bytes: TranscriptBytes): Piece {
  const data = bytes.size > MAX_DOCUMENT ? Buffer.alloc(0) : bytes.read(0, bytes.size);
  return { start: 0, end: bytes.size, data };
}

function isPrefix({ offset, mark }: Conversation, bytes: TranscriptBytes): boolean {
  return offset <= bytes.size && markAt(bytes, offset) === mark;
}

function markAt(bytes: TranscriptBytes, offset: number): string {
  return hexDigest("sha256", bytes.read(Math.max(0, offset - MARK_BYTES), offset)).slice(0, 16);
}
