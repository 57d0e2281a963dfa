/**
 * Writes and reads leaves: lists of tokens in the order of their bytes, each with the documents that have it, as
 * docs/formats/search-index.md specifies them.
 */
import { longer, type Stretch } from "../words/byte-strings.ts";
import type { Documents } from "../words/postings.ts";

/** A leaf ends after the token with which it is this long. */
const LEAF_BYTES = 4 << 10;
const FIRST_TOKEN = 256;
/** The maximum length of a number in bytes. */
const MAX_NUMBER = 5;

/**
 * Passes each leaf to `write`, with bytes from which on its tokens are. Both are valid only until that returns. A token
 * with a long list of documents has a separate leaf, so that no other token is looked up in it.
 */
export class LeafWriter {
  readonly #write: (first: Uint8Array, data: Uint8Array) => void;
  #data = new Uint8Array(LEAF_BYTES * 4);
  #length = 0;
  #first = new Uint8Array(0);
  #isAfterLong = false;
  #last: Stretch = { bytes: new Uint8Array(FIRST_TOKEN), start: 0, end: 0 };
  /** Bytes of all leaves. */
  bytes = 0;

  constructor(write: (first: Uint8Array, data: Uint8Array) => void) {
    this.#write = write;
  }

  /** Tokens must come in order, and the documents of each ascend. */
  add(token: Stretch, { numbers, start, end }: Documents): void {
    const { bytes } = token;
    const length = token.end - token.start;
    const isLong = end - start >= LEAF_BYTES;
    if (isLong) this.end();
    const most = this.#length + length + (end - start + 3) * MAX_NUMBER;
    if (most > this.#data.length) this.#data = longer(this.#data, most);
    if (this.#length === 0) this.#first = this.#isAfterLong ? this.#afterLast() : bytes.slice(token.start, token.end);
    const shared = this.#length === 0 ? 0 : sharedBytes(this.#last, token);
    this.#number(shared);
    this.#number(length - shared);
    for (let at = token.start + shared; at < token.end; at++) this.#data[this.#length++] = bytes[at] as number;
    this.#number(end - start);
    let before = -1;
    for (let at = start; at < end; at++) {
      const document = numbers[at] as number;
      this.#number(document - before);
      before = document;
    }
    this.#keep(token, shared);
    if (this.#length >= LEAF_BYTES) this.end();
    this.#isAfterLong = isLong;
  }

  /** The least that is greater than the last token. */
  #afterLast(): Uint8Array<ArrayBuffer> {
    const first = new Uint8Array(this.#last.end + 1);
    first.set(this.#last.bytes.subarray(0, this.#last.end));
    return first;
  }

  /** The bytes of a token stay valid only during a call. */
  #keep({ bytes, start, end }: Stretch, shared: number): void {
    const last = this.#last;
    last.end = end - start;
    if (last.end > last.bytes.length) last.bytes = longer(last.bytes, last.end);
    for (let at = shared; at < last.end; at++) last.bytes[at] = bytes[start + at] as number;
  }

  end(): void {
    // After a long list, a token that is not in the run is looked up in an empty leaf.
    if (this.#length === 0 && this.#isAfterLong) this.#first = this.#afterLast();
    else if (this.#length === 0) return;
    this.#write(this.#first, this.#data.subarray(0, this.#length));
    this.bytes += this.#length;
    this.#length = 0;
    this.#isAfterLong = false;
  }

  #number(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#data[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#data[this.#length++] = rest;
  }
}

/** Goes through the tokens of one leaf after the other. */
export class LeafReader {
  #data: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** Whether the documents of the current token were read. */
  #isRead = true;
  /** The current token; valid until `next`. */
  readonly token: Stretch = { bytes: new Uint8Array(FIRST_TOKEN), start: 0, end: 0 };
  /** How many documents have it. */
  count = 0;

  /** Continues with this leaf. */
  open(data: Uint8Array): void {
    this.#data = data;
    this.#at = 0;
    this.#isRead = true;
    this.token.end = 0;
  }

  /** Moves to the next token. False at the end. */
  next(): boolean {
    if (!this.#isRead) this.#skip();
    if (this.#at >= this.#data.length) return false;
    const { token } = this;
    const shared = Math.min(this.#number(), token.end);
    const end = Math.min(this.#number() + this.#at, this.#data.length);
    token.end = shared + end - this.#at;
    if (token.end > token.bytes.length) token.bytes = longer(token.bytes, token.end);
    for (let to = shared; this.#at < end; to++) token.bytes[to] = this.#data[this.#at++] as number;
    // A damaged leaf can't promise more than it has.
    this.count = Math.min(this.#number(), this.#data.length - this.#at);
    this.#isRead = false;
    return true;
  }

  /** Calls `visit` with each document of the current token. May be called once for each token. */
  documents(visit: (document: number) => void): void {
    let document = -1;
    for (let left = this.count; left > 0; left--) {
      document += this.#number();
      visit(document);
    }
    this.#isRead = true;
  }

  #skip(): void {
    for (let left = this.count; left > 0; left--) this.#number();
    this.#isRead = true;
  }

  #number(): number {
    let value = 0;
    for (let shift = 0; this.#at < this.#data.length; shift += 7) {
      const byte = this.#data[this.#at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
}

function sharedBytes(a: Stretch, b: Stretch): number {
  const length = Math.min(a.end - a.start, b.end - b.start);
  let shared = 0;
  while (shared < length && a.bytes[a.start + shared] === b.bytes[b.start + shared]) shared++;
  return shared;
}
