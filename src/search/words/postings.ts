/**
 * Collects which documents have which tokens. They are noted one after the other and sorted only when they are read:
 * to look up each token's list at once would take many times as long.
 */
import { longer, type Stretch } from "./byte-strings.ts";
import { TokenTable } from "./token-table.ts";

/** With more tokens than this, it is full. */
const MAX_LOG = 4 << 20;
const FIRST_LOG = 1 << 16;
/** Tokens are sorted by their first bytes and their numbers, as one number. */
const SORTED_BYTES = 4;
const NUMBERS = 2 ** 20;

export class Postings {
  readonly #table = new TokenTable();
  /** The tokens of all documents. */
  #log = new Int32Array(FIRST_LOG);
  #length = 0;
  /** Ascending, each with the end of its tokens in the log. */
  #documents: number[] = [];
  #ends: number[] = [];

  get isEmpty(): boolean {
    return this.#documents.length === 0;
  }

  /** True if it should be read and cleared before the next document. */
  get isFull(): boolean {
    return this.#length >= MAX_LOG || this.#table.isFull;
  }

  /** The numbers of documents must ascend. */
  add(document: number, text: Uint8Array): void {
    const tokens = this.#table.tokensOf(text);
    const end = this.#length + tokens.length;
    if (end > this.#log.length) this.#log = longer(this.#log, end);
    this.#log.set(tokens, this.#length);
    this.#length = end;
    this.#documents.push(document);
    this.#ends.push(end);
  }

  /**
   * Calls `visit` with every token and its documents, in the order of the tokens' bytes. Both are the same objects for
   * each call.
   */
  each(visit: (token: Stretch, documents: Documents) => void): void {
    const ends = this.#endsByToken();
    const token = { bytes: this.#table.bytes, start: 0, end: 0 };
    const documents = { numbers: this.#byToken(ends), start: 0, end: 0 };
    for (const number of this.#sorted(ends)) {
      token.start = this.#table.startOf(number);
      token.end = this.#table.endOf(number);
      documents.start = number === 0 ? 0 : (ends[number - 1] as number);
      documents.end = ends[number] as number;
      visit(token, documents);
    }
  }

  clear(): void {
    this.#length = 0;
    this.#documents = [];
    this.#ends = [];
    if (this.#table.isFull) this.#table.clear();
  }

  /** Where each token's documents end if they are sorted by token. */
  #endsByToken(): Int32Array {
    const ends = new Int32Array(this.#table.size);
    for (let at = 0; at < this.#length; at++) {
      const number = this.#log[at] as number;
      ends[number] = (ends[number] as number) + 1;
    }
    let sum = 0;
    for (let number = 0; number < ends.length; number++) {
      sum += ends[number] as number;
      ends[number] = sum;
    }
    return ends;
  }

  #byToken(ends: Int32Array): Int32Array {
    const documents = new Int32Array(this.#length);
    const places = new Int32Array(ends.length + 1);
    places.set(ends, 1);
    let at = 0;
    for (const [index, end] of this.#ends.entries()) {
      const document = this.#documents[index] as number;
      for (; at < end; at++) {
        const number = this.#log[at] as number;
        const place = places[number] as number;
        documents[place] = document;
        places[number] = place + 1;
      }
    }
    return documents;
  }

  /** The numbers of the tokens that have documents. */
  #sorted(ends: Int32Array): Float64Array {
    const { bytes } = this.#table;
    const keys = new Float64Array(ends.length);
    let count = 0;
    for (let number = 0; number < ends.length; number++) {
      if (ends[number] === (number === 0 ? 0 : ends[number - 1])) continue;
      const start = this.#table.startOf(number);
      const end = this.#table.endOf(number);
      let key = 0;
      for (let at = start; at < start + SORTED_BYTES; at++) key = key * 256 + (at < end ? (bytes[at] as number) : 0);
      keys[count++] = key * NUMBERS + number;
    }
    const sorted = keys.subarray(0, count).sort();
    for (let from = 0; from < count; ) {
      const key = Math.floor((sorted[from] as number) / NUMBERS);
      let to = from + 1;
      while (to < count && Math.floor((sorted[to] as number) / NUMBERS) === key) to++;
      if (to - from > 1) sorted.subarray(from, to).sort((a, b) => this.#compare(a % NUMBERS, b % NUMBERS));
      from = to;
    }
    for (let at = 0; at < count; at++) sorted[at] = (sorted[at] as number) % NUMBERS;
    return sorted;
  }

  #compare(first: number, second: number): number {
    const { bytes } = this.#table;
    const [from, to] = [this.#table.startOf(first), this.#table.startOf(second)];
    const aLength = this.#table.endOf(first) - from;
    const bLength = this.#table.endOf(second) - to;
    for (let at = SORTED_BYTES; at < aLength && at < bLength; at++) {
      const difference = (bytes[from + at] as number) - (bytes[to + at] as number);
      if (difference !== 0) return difference;
    }
    return aLength - bLength;
  }
}

/** Some of the numbers, ascending. */
export interface Documents {
  numbers: Int32Array;
  start: number;
  end: number;
}
