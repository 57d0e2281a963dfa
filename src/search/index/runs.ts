/**
 * The words of segments, in runs. A run is written once, with the tokens of some documents in order; runs of a segment
 * are merged when there are many, so that a search looks up a word in few places.
 */
import { compareBytes, longer, type Stretch } from "../words/byte-strings.ts";
import type { Postings } from "../words/postings.ts";
import type { Database } from "./database-types.ts";
import { LeafReader, LeafWriter } from "./leaves.ts";

/** A segment that still grows has at most so many runs. */
const MAX_RUNS = 8;
/** A run is merged with the later ones if it is at most so many times as long as these together. */
const MERGED = 4;
const FIRST_DOCUMENTS = 1 << 10;
const NOTHING = new Uint8Array(0);

interface Run {
  id: number;
  segment: number;
  bytes: number;
}

/** Writes what was collected as a run, and clears it. Documents must come after those of earlier runs. */
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

/** Calls `visit` with each token from `start` on, until it returns false. A token comes once for each run that has it. */
export function eachToken(
  database: Database,
  segment: number,
  start: Uint8Array,
  visit: (reader: LeafReader) => boolean,
): void {
  for (const run of runsOf(database, segment)) {
    const reader = new RunReader(database, run, start);
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
  let open = runs.map((run) => new RunReader(database, run, NOTHING)).filter((reader) => reader.next());
  const documents = { numbers: new Int32Array(FIRST_DOCUMENTS), start: 0, end: 0 };
  const collect = (document: number) => {
    if (documents.end === documents.numbers.length) documents.numbers = longer(documents.numbers, 0);
    documents.numbers[documents.end++] = document;
  };
  writing(database, segment, (writer) => {
    while (open.length > 0) {
      const least = open.reduce((a, b) => (compareBytes(b.leaf.token, a.leaf.token) < 0 ? b : a)).leaf.token;
      const same = open.filter(({ leaf }) => compareBytes(leaf.token, least) === 0);
      documents.end = 0;
      for (const { leaf } of same) leaf.documents(collect);
      writer.add(least, documents);
      const ended = same.filter((reader) => !reader.next());
      if (ended.length > 0) open = open.filter((reader) => !ended.includes(reader));
    }
  });
  for (const run of runs) removeRun(database, run);
}

/** Goes through a run's tokens, from the first one that is not less than `start`. */
class RunReader {
  readonly #database: Database;
  readonly #run: number;
  readonly #start: Stretch;
  /** The first token of the leaf at hand. */
  #first: Uint8Array | undefined;
  leaf = new LeafReader(new Uint8Array(0));

  constructor(database: Database, { id }: Run, start: Uint8Array) {
    this.#database = database;
    this.#run = id;
    this.#start = { bytes: start, start: 0, end: start.length };
  }

  /** Moves to the next token. False at the end. */
  next(): boolean {
    do {
      while (!this.leaf.next()) {
        const row = this.#following();
        if (!row) return false;
        this.#first = row.first;
        this.leaf = new LeafReader(row.data);
      }
    } while (compareBytes(this.leaf.token, this.#start) < 0);
    return true;
  }

  /** The next leaf; at first, the one in which the start belongs. */
  #following(): StoredLeaf | undefined {
    if (this.#first !== undefined) return this.#leaf(this.#first, true);
    return this.#leaf(this.#start.bytes, false) ?? this.#leaf(this.#start.bytes, true);
  }

  #leaf(token: Uint8Array, isAfter: boolean): StoredLeaf | undefined {
    const [operator, order] = isAfter ? [">", ""] : ["<=", "desc"];
    const sql = `select first, data from words where run = ? and first ${operator} ? order by first ${order} limit 1`;
    return this.#database.statement(sql).get(this.#run, token) as StoredLeaf | undefined;
  }
}

interface StoredLeaf {
  first: Uint8Array;
  data: Uint8Array;
}
