/**
 * Writes documents: texts into compressed blocks, words into the runs of segments of limited size. The words of one
 * document can't be removed from a run, so a segment is made again from its texts when many of its documents are gone,
 * or at once to forget a conversation.
 */
import { classAt, SEPARATOR } from "../words/characters.ts";
import { Postings } from "../words/postings.ts";
import { MAX_WORD } from "../words/split.ts";
import { compress } from "./database.ts";
import type { Database } from "./database-types.ts";
import { asDocument, type Document, type NewDocument } from "./documents.ts";
import { mergeRuns, removeRuns, writeRun } from "./runs.ts";
import { FIELDS } from "./schema.ts";

const SEGMENT_BYTES = 64 << 20;
const BLOCK_BYTES = 64 << 10;
/** Document ids of a segment begin at its number times this; so a segment has at most as many documents. */
export const IDS = 2 ** 20;
/** Longer texts are split at line ends. */
const MAX_TEXT = 32 << 10;
/** A segment with more than this share of removed documents is made again. */
const MAX_REMOVED = 0.5;

export interface Segment {
  id: number;
  docs: number;
  bytes: number;
  removed: number;
}

interface Pending {
  conversation: number;
  document: NewDocument;
  data: Buffer;
}

export class Segments {
  readonly #database: Database;
  readonly #textOf: (document: Document) => string;
  readonly #segmentBytes: number;
  /** The words of the current segment's documents that are not in a run yet. */
  #postings: Postings | undefined;
  #segment = 0;
  /** Bytes of text written since the caller last set this to 0. */
  written = 0;
  #pending: Pending[] = [];
  #pendingBytes = 0;
  #current: Segment | undefined;

  constructor(database: Database, textOf: (document: Document) => string, segmentBytes = SEGMENT_BYTES) {
    this.#database = database;
    this.#textOf = textOf;
    this.#segmentBytes = segmentBytes;
  }

  /** A search needs none. */
  get #words(): Postings {
    this.#postings ??= new Postings();
    return this.#postings;
  }

  list(): Segment[] {
    return this.#database.statement("select * from segments order by id desc").all() as Segment[];
  }

  add(conversation: number, document: NewDocument): void {
    for (const text of partsOf(document.text)) {
      // A block holds only one conversation, so that it goes when the conversation goes.
      if (this.#pendingBytes >= BLOCK_BYTES || this.#pending[0]?.conversation !== conversation) this.#writeBlock();
      const data = Buffer.from(text);
      this.#pending.push({ conversation, document: { ...document, text }, data });
      this.#pendingBytes += data.length;
    }
  }

  /** Writes the documents. Call inside of a transaction. */
  flush(): void {
    this.#writeBlock();
    const segment = this.#current;
    if (segment)
      this.#database
        .statement("update segments set docs = ?, bytes = ? where id = ?")
        .run(segment.docs, segment.bytes, segment.id);
    this.#current = undefined;
  }

  /** Writes the words of the flushed documents. Call before the transaction is committed. */
  writeWords(): void {
    if (this.#postings) writeRun(this.#database, this.#segment, this.#postings);
  }

  discard(): void {
    this.written = 0;
    this.#postings?.clear();
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#current = undefined;
  }

  /** Removes documents and their texts. The condition must hold for all documents of a block, or for none. */
  removeWhere(condition: "conversation = ?" | "step = ?", value: number | string): void {
    this.flush();
    const sql = `select id / ${IDS} as segment, count(*) as count from docs where ${condition} group by 1`;
    for (const row of this.#database.statement(sql).all(value)) {
      const { segment, count } = row as { segment: number; count: number };
      this.#database.statement("update segments set removed = removed + ? where id = ?").run(count, segment);
    }
    const blocks = `delete from blocks where id in (select block from docs where ${condition})`;
    this.#database.statement(blocks).run(value);
    this.#database.statement(`delete from docs where ${condition}`).run(value);
  }

  /** Segments that have removed documents; with `many`, only those worth the effort. */
  withRemoved(many: boolean): number[] {
    return this.list()
      .filter(({ docs, removed }) => removed > (many ? docs * MAX_REMOVED : 0))
      .map(({ id }) => id);
  }

  /** Makes a segment's words again from the texts that are left. Call inside of a transaction. */
  remake(segment: number): void {
    this.flush();
    this.writeWords();
    removeRuns(this.#database, segment);
    const rows = this.#database
      .statement("select * from docs where id >= ? and id < ? order by id")
      .all(segment * IDS, (segment + 1) * IDS);
    if (rows.length === 0) {
      this.#database.statement("delete from segments where id = ?").run(segment);
      return;
    }
    this.#segment = segment;
    for (const row of rows) {
      const document = asDocument(row);
      if (this.#words.isFull) this.writeWords();
      this.#words.add(document.id % IDS, Buffer.from(this.#textOf(document)));
    }
    this.writeWords();
    mergeRuns(this.#database, segment);
    this.#database.statement("update segments set removed = 0 where id = ?").run(segment);
  }

  #writeBlock(): void {
    if (this.#pending.length === 0) return;
    const segment = this.#open();
    const data = compress(Buffer.concat(this.#pending.map((one) => one.data)));
    this.#database.statement("insert into blocks (data) values (?)").run(data);
    const { block } = this.#database.statement("select last_insert_rowid() as block").get() as { block: number };
    const docs = this.#database.statement("insert into docs values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    let start = 0;
    for (const { conversation, document, data: text } of this.#pending) {
      const number = segment.docs++;
      const id = segment.id * IDS + number;
      const { field, time, turn, position, step = null, path = null } = document;
      docs.run(id, conversation, FIELDS.indexOf(field), time, turn, position, block, start, text.length, step, path);
      if (this.#words.isFull) this.writeWords();
      this.#segment = segment.id;
      this.#words.add(number, text);
      start += text.length;
    }
    segment.bytes += start;
    this.written += start;
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  /** The newest segment, or a new one if that is full. */
  #open(): Segment {
    const segment = this.#current ?? this.list()[0];
    if (segment && segment.bytes < this.#segmentBytes && segment.docs < IDS - BLOCK_BYTES) {
      this.#current = segment;
      return segment;
    }
    if (segment) this.#seal(segment);
    const fresh = { id: (segment?.id ?? 0) + 1, docs: 0, bytes: 0, removed: 0 };
    this.#database.statement("insert into segments values (?, 0, 0, 0)").run(fresh.id);
    this.#current = fresh;
    return fresh;
  }

  /** A full segment gets no more documents. */
  #seal({ id, docs, bytes }: Segment): void {
    this.#database.statement("update segments set docs = ?, bytes = ? where id = ?").run(docs, bytes, id);
    this.writeWords();
    mergeRuns(this.#database, id);
  }
}

/** Splits a long text at line ends, and a line that is itself too long between words. */
function partsOf(text: string): string[] {
  if (text.length <= MAX_TEXT) return text.trim() === "" ? [] : [text];
  const parts: string[] = [];
  let start = 0;
  while (start < text.length) {
    const end = endOfPart(text, start);
    const part = text.slice(start, end);
    if (part.trim() !== "") parts.push(part);
    start = end;
  }
  return parts;
}

function endOfPart(text: string, start: number): number {
  const end = Math.min(text.length, start + MAX_TEXT);
  if (end === text.length) return end;
  const newline = text.lastIndexOf("\n", end - 1);
  if (newline > start) return newline + 1;
  // A word longer than this is data.
  for (let at = end; at > end - 2 * MAX_WORD; at--) if (classAt(text, at - 1) === SEPARATOR) return at;
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
