/**
 * Numbers distinct byte strings, such as words: the same bytes get the same number. Keeps no JavaScript strings, and
 * the fields of a string are adjacent in memory: with many strings, reading memory takes most of the time.
 */

/** Fields of a string's record, as offsets: its hash, and where its bytes begin and end. Others are the caller's. */
const HASH = 0;
export const START = 1;
export const END = 2;
/** A record is half a cache line. */
export const RECORD = 8;

const FIRST_SLOTS = 1 << 13;
/** With more strings or bytes than this, it is full. */
const MAX_SLOTS = 1 << 19;
const MAX_STRINGS = MAX_SLOTS / 2;
const MAX_BYTES = MAX_STRINGS * 12;
const FIRST_BYTES = 1 << 16;

export class ByteStrings {
  /** The number of strings. */
  count = 0;
  records = new Int32Array((FIRST_SLOTS / 2) * RECORD);
  bytes = new Uint8Array(FIRST_BYTES);
  #length = 0;
  /** Numbers of strings, plus 1; 0 is free. */
  #slots = new Int32Array(FIRST_SLOTS);

  /** True if many more strings may not fit. */
  get isFull(): boolean {
    return this.count >= MAX_STRINGS || this.#length >= MAX_BYTES;
  }

  /** The place of the string's record in `records`. A new one has 0 in the caller's fields. */
  find(source: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const records = this.records;
    const mask = slots.length - 1;
    let slot = slotOf(hash) & mask;
    for (let found = slots[slot] as number; found !== 0; found = slots[slot] as number) {
      const record = (found - 1) * RECORD;
      if (records[record + HASH] === hash && this.#isAt(source, start, end, record)) return record;
      slot = (slot + 1) & mask;
    }
    slots[slot] = this.count + 1;
    return this.#add(source, start, end, hash);
  }

  clear(): void {
    this.#slots.fill(0);
    this.count = 0;
    this.#length = 0;
  }

  #isAt(source: Uint8Array, start: number, end: number, record: number): boolean {
    const bytes = this.bytes;
    let own = this.records[record + START] as number;
    if (end - start !== (this.records[record + END] as number) - own) return false;
    for (let at = start; at < end; at++, own++) if (source[at] !== bytes[own]) return false;
    return true;
  }

  #add(source: Uint8Array, start: number, end: number, hash: number): number {
    const from = this.#length;
    this.#length = from + end - start;
    if (this.#length > this.bytes.length) this.bytes = longer(this.bytes, this.#length);
    for (let at = start; at < end; at++) this.bytes[from + at - start] = source[at] as number;
    const record = this.count++ * RECORD;
    if (this.count * RECORD >= this.records.length) this.#grow();
    this.records.fill(0, record, record + RECORD);
    this.records[record + HASH] = hash;
    this.records[record + START] = from;
    this.records[record + END] = this.#length;
    return record;
  }

  #grow(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    this.records = longer(this.records, 0);
    for (const number of this.#slots) {
      if (number === 0) continue;
      let slot = slotOf(this.records[(number - 1) * RECORD + HASH] as number) & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = number;
    }
    this.#slots = slots;
  }
}

/** Spreads similar hashes over the slots. */
function slotOf(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 16);
}

/** A copy with room for at least this many elements, and at least twice as many as before. */
export function longer<T extends Uint8Array | Int32Array>(array: T, least: number): T {
  const copy = new (array.constructor as new (length: number) => T)(Math.max(least, array.length * 2));
  copy.set(array);
  return copy;
}

/** Bytes from `start` to `end`. */
export interface Stretch {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** Less than, equal to or greater than 0, as the first string is less than, equal to or greater than the second. */
export function compareBytes(a: Stretch, b: Stretch): number {
  const [aBytes, bBytes] = [a.bytes, b.bytes];
  const length = Math.min(a.end - a.start, b.end - b.start);
  for (let at = 0; at < length; at++) {
    const difference = (aBytes[a.start + at] as number) - (bBytes[b.start + at] as number);
    if (difference !== 0) return difference;
  }
  return a.end - a.start - (b.end - b.start);
}
