/**
 * The words of segments, in runs. A run is written once, with the tokens of some documents in order; runs of a segment
 * are merged when there are many, so that a search looks up a word in few places.
 */
import { compareBytes, longer, type Stretch } from "../words/byte-strings.ts";
import type { Postings } from "../words/postings.ts";
import type { Database } from "./database-types.ts";
import { LeafReader, LeafWriter } from "./leaves.ts";

/** The maximum number of runs in a growing segment. */
const MAX_RUNS = 8;
/** A run is merged with the later runs if it is at most this many times as long as all of them. */
const MERGED = 4;
const FIRST_DOCUMENTS = 1 << 10;

/** Tokens from `from` on, and less than `before`, in the order of their bytes. */
export interface TokenRange {
  from: Uint8Array;
  before: Uint8Array;
}

/** No byte of UTF-8 is greater. */
const GREATEST = 0xff;
const EVERYTHING: TokenRange = { from: new Uint8Array(0), before: Uint8Array.of(GREATEST) };

interface Run {
  id: number;
  segment: number;
  bytes: number;
}

/** Writes the collected words as a run, and clears them. Documents must come after those of earlier runs. */
export function writeRun(database: Database, segment: number, postings: Postings): void {
  if (postings.isEmpty) return;
  writing(database, segment, (writer) => postings.each((token, documents) => writer.add(token, documents)));
  postings.clear();
  const runs = runsOf(database, segment);
  if (runs.length > MAX_RUNS) merge(database, latest(runs));
}

/** Merges all runs of a segment, which is the fastest to search. */
export function mergeRuns(database: Database, segment: number): void {
  const runs = runsOf(database, segment);
  if (runs.length > 1) merge(database, runs);
}

export function removeRuns(database: Database, segment: number): void {
  for (const run of runsOf(database, segment)) removeRun(database, run);
}

export function tokenRange(token: string, isPrefix: boolean): TokenRange {
  const from = Buffer.from(token);
  return { from, before: Buffer.concat([from, Uint8Array.of(isPrefix ? GREATEST : 0)]) };
}

/** Calls `visit` with each token of the range. A token comes once for each run that has it. False ends a run. */
export function eachToken(
  database: Database,
  segment: number,
  range: TokenRange,
  visit: (reader: LeafReader) => boolean,
): void {
  for (const run of runsOf(database, segment)) {
    const reader = new RunReader(database, run, range);
    while (reader.next() && visit(reader.leaf));
  }
}

function runsOf(database: Database, segment: number): Run[] {
  return database.statement("select * from runs where segment = ? order by id").all(segment) as Run[];
}

function writing(database: Database, segment: number, write: (writer: LeafWriter) => void): void {
  database.statement("insert into runs (segment, bytes) values (?, 0)").run(segment);
  const { id } = database.statement("select last_insert_rowid() as id").get() as { id: number };
  const insert = database.statement("insert into words values (?, ?, ?)");
  const writer = new LeafWriter((first, data) => insert.run(id, first, data));
  write(writer);
  writer.end();
  database.statement("update runs set bytes = ? where id = ?").run(writer.bytes, id);
}

function removeRun(database: Database, { id }: Run): void {
  for (const [table, column] of [
    ["words", "run"],
    ["runs", "id"],
  ])
    database.statement(`delete from ${table} where ${column} = ?`).run(id);
}

/** The last two runs, and those before that are not much longer. */
function latest(runs: readonly Run[]): Run[] {
  let from = runs.length - 2;
  let bytes = runs.slice(from).reduce((sum, run) => sum + run.bytes, 0);
  while (from > 0 && (runs[from - 1] as Run).bytes <= bytes * MERGED) bytes += (runs[--from] as Run).bytes;
  return runs.slice(from);
}

/** The runs must follow each other. */
function merge(database: Database, runs: readonly Run[]): void {
  const segment = runs[0]?.segment as number;
  const open = runs.map((run) => new RunReader(database, run, EVERYTHING)).filter((reader) => reader.next());
  const same: RunReader[] = [];
  const documents = { numbers: new Int32Array(FIRST_DOCUMENTS), start: 0, end: 0 };
  const collect = (document: number) => {
    if (documents.end === documents.numbers.length) documents.numbers = longer(documents.numbers, 0);
    documents.numbers[documents.end++] = document;
  };
  // There are millions of tokens, so nothing is allocated for each of them.
  writing(database, segment, (writer) => {
    while (open.length > 0) {
      findLeast(open, same);
      documents.end = 0;
      for (const { leaf } of same) leaf.documents(collect);
      writer.add((same[0] as RunReader).leaf.token, documents);
      for (const reader of same) if (!reader.next()) open.splice(open.indexOf(reader), 1);
    }
  });
  for (const run of runs) removeRun(database, run);
}

/** Fills `same` with the readers at the smallest token. */
function findLeast(readers: readonly RunReader[], same: RunReader[]): void {
  same.length = 0;
  for (const reader of readers) {
    const first = same[0];
    const order = first === undefined ? 0 : compareBytes(reader.leaf.token, first.leaf.token);
    if (order < 0) same.length = 0;
    if (order <= 0) same.push(reader);
  }
}

/** Goes through a run's tokens that are in a range. */
class RunReader {
  readonly #database: Database;
  readonly #run: number;
  readonly #from: Stretch;
  readonly #before: Stretch;
  /** The start of the current leaf. */
  #first: Uint8Array | undefined;
  readonly leaf = new LeafReader();

  constructor(database: Database, { id }: Run, { from, before }: TokenRange) {
    this.#database = database;
    this.#run = id;
    this.#from = { bytes: from, start: 0, end: from.length };
    this.#before = { bytes: before, start: 0, end: before.length };
  }

  /** Moves to the next token. False at the end. */
  next(): boolean {
    do {
      while (!this.leaf.next()) {
        const row = this.#following();
        if (!row) return false;
        this.#first = row.first;
        this.leaf.open(row.data);
      }
    } while (compareBytes(this.leaf.token, this.#from) < 0);
    return compareBytes(this.leaf.token, this.#before) < 0;
  }

  /** The next leaf; at first, the one in which the range begins. */
  #following(): StoredLeaf | undefined {
    if (this.#first !== undefined) return this.#leaf(">", this.#first);
    return this.#leaf("<=", this.#from.bytes) ?? this.#leaf(">", this.#from.bytes);
  }

  #leaf(operator: ">" | "<=", bytes: Uint8Array): StoredLeaf | undefined {
    const order = operator === ">" ? "" : "desc";
    const sql = `select first, data from words where run = ? and first ${operator} ? and first < ? order by first ${order} limit 1`;
    return this.#database.statement(sql).get(this.#run, bytes, this.#before.bytes) as StoredLeaf | undefined;
  }
}

interface StoredLeaf {
  first: Uint8Array;
  data: Uint8Array;
}
