/**
 * Reads and writes the search index: conversations, how far each is indexed, and documents. A document is one text of
 * one field, such as a prompt. Its text is in a compressed block, its words are in the table of a segment.
 */
import { decompress, freeMemory } from "./database.ts";
import type { Database, Value } from "./database-types.ts";
import type { Conversation, ConversationName, Document, NewDocument } from "./documents.ts";
import type { OpenIndex } from "./open.ts";
import { Segments } from "./segments.ts";

/** Text that a batch holds; others wait while it is written. */
const BATCH_BYTES = 16 << 20;
const MAX_CACHED_BLOCKS = 64;
const COLUMNS =
  "agent, session, part, repository, store, origin, size, modified, offset, generation, mark, turns, title, model";
const NAMES = COLUMNS.split(", ") as (keyof Omit<Conversation, "id">)[];
const INSERT = `insert into conversations (${COLUMNS}) values (${NAMES.map(() => "?").join(", ")})`;
const UPDATE = `update conversations set ${NAMES.map((name) => `${name} = ?`).join(", ")} where id = ?`;

export class SearchIndex {
  readonly database: Database;
  readonly path: string;
  readonly readOnly: boolean;
  readonly segments: Segments;
  #isBatch = false;
  #isOpen = false;
  readonly #blocks = new Map<number, Buffer>();

  /** `segmentBytes` limits the segments. */
  constructor({ database, path, readOnly }: OpenIndex, segmentBytes?: number) {
    this.database = database;
    this.path = path;
    this.readOnly = readOnly;
    this.segments = new Segments(database, (document) => this.textOf(document), segmentBytes);
  }

  /** Everything that `work` writes is written at once, or not at all. */
  transaction<T>(work: () => T): T {
    if (!this.#isOpen) this.database.execute("begin immediate");
    this.#isOpen = true;
    try {
      const result = work();
      this.segments.flush();
      if (!this.#isBatch || this.segments.written >= BATCH_BYTES) this.#commit();
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** What `work` reads is the state of one moment, whatever another process writes meanwhile. */
  reading<T>(work: () => T): T {
    if (this.#isOpen) return work();
    this.database.execute("begin");
    try {
      return work();
    } finally {
      this.database.execute("commit");
    }
  }

  /**
   * Writes several transactions as one, which is faster for many small ones. If one of them fails, none of the batch so
   * far is written; how far each conversation is indexed is part of it, so the next update starts there.
   */
  beginBatch(): void {
    this.#isBatch = true;
  }

  endBatch(): void {
    this.#isBatch = false;
    if (!this.#isOpen) return;
    try {
      this.#commit();
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #commit(): void {
    this.segments.writeWords();
    this.database.execute("commit");
    this.#isOpen = false;
    if (this.segments.written >= BATCH_BYTES) freeMemory();
    this.segments.written = 0;
  }

  #rollBack(): void {
    this.segments.discard();
    this.#isOpen = false;
    try {
      this.database.execute("rollback");
    } catch {
      // SQLite has rolled back already, as it does if the disk is full.
    }
  }

  find({ agent, session, part }: ConversationName): Conversation | undefined {
    const sql = `select id, ${COLUMNS} from conversations where agent = ? and session = ? and part = ?`;
    return this.database.statement(sql).get(agent, session, part) as Conversation | undefined;
  }

  conversation(id: number): Conversation | undefined {
    const sql = `select id, ${COLUMNS} from conversations where id = ?`;
    return this.database.statement(sql).get(id) as Conversation | undefined;
  }

  conversations(where = "1", ...values: Value[]): Conversation[] {
    const sql = `select id, ${COLUMNS} from conversations where ${where}`;
    return this.database.statement(sql).all(...values) as Conversation[];
  }

  /** Inserts or updates a conversation, and returns its id. */
  save(conversation: Omit<Conversation, "id">): number {
    const values = NAMES.map((name) => conversation[name]);
    const known = this.find(conversation);
    if (known) {
      this.database.statement(UPDATE).run(...values, known.id);
      return known.id;
    }
    this.database.statement(INSERT).run(...values);
    return (this.database.statement("select last_insert_rowid() as id").get() as { id: number }).id;
  }

  add(conversation: number, document: NewDocument): void {
    this.segments.add(conversation, document);
  }

  /** Removes the documents of a conversation. Their words stay in the segment until it is made again. */
  removeDocuments(conversation: number): void {
    this.segments.removeWhere("conversation = ?", conversation);
    this.#blocks.clear();
  }

  removeConversation(conversation: number): void {
    this.removeDocuments(conversation);
    this.database.statement("delete from conversations where id = ?").run(conversation);
  }

  textOf({ block, start, length }: Pick<Document, "block" | "start" | "length">): string {
    return this.#block(block).toString("utf8", start, start + length);
  }

  #block(id: number): Buffer {
    const known = this.#blocks.get(id);
    if (known) return known;
    const row = this.database.statement("select data from blocks where id = ?").get(id) as { data: Uint8Array };
    const content = row ? decompress(row.data) : Buffer.alloc(0);
    if (this.#blocks.size >= MAX_CACHED_BLOCKS) this.#blocks.clear();
    this.#blocks.set(id, content);
    return content;
  }

  state(key: string): string | null {
    const row = this.database.statement("select value from state where key = ?").get(key);
    return (row as { value: string } | undefined)?.value ?? null;
  }

  setState(key: string, value: string): void {
    this.database
      .statement("insert into state values (?, ?) on conflict (key) do update set value = excluded.value")
      .run(key, value);
  }

  close(): void {
    this.database.close();
  }
}
