/** Finds the strings of a JSON text as byte ranges without parsing it, and decodes their escapes. */
import { BACKSLASH, isDigit, isSpace, QUOTE } from "./bytes.ts";

export interface StringValue {
  /** Between the quotes. */
  start: number;
  end: number;
  escaped: boolean;
  /** The value's key; both offsets are 0 in a list. */
  keyStart: number;
  keyEnd: number;
}

/**
 * Calls `visit` for every string value and `visitKey` for every key. Returns false if the text is not JSON; the calls
 * made so far are then meaningless.
 */
export function eachString(
  bytes: Uint8Array,
  from: number,
  to: number,
  visit: (value: StringValue) => void,
  visitKey: (start: number, end: number) => void,
): boolean {
  const value: StringValue = { start: 0, end: 0, escaped: false, keyStart: 0, keyEnd: 0 };
  let keyStart = 0;
  let keyEnd = 0;
  let seen = false;
  for (let i = from; i < to; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      const start = i + 1;
      let end = start;
      let escaped = false;
      for (; end < to; end++) {
        const inside = bytes[end] as number;
        if (inside === QUOTE) break;
        if (inside < 0x20) return false;
        if (inside === BACKSLASH) {
          escaped = true;
          end++;
        }
      }
      if (end >= to) return false;
      let next = end + 1;
      while (next < to && isSpace(bytes[next])) next++;
      if (bytes[next] === 0x3a && next < to) {
        keyStart = start;
        keyEnd = end;
        visitKey(start, end);
        i = next;
      } else {
        [value.start, value.end, value.escaped, value.keyStart, value.keyEnd] = [start, end, escaped, keyStart, keyEnd];
        visit(value);
        keyStart = keyEnd = 0;
        i = end;
      }
      seen = true;
    } else if (byte === 0x5b || byte === 0x7b) {
      keyStart = keyEnd = 0;
      seen = true;
    } else if (byte > 0x40 && byte !== 0x5d && byte !== 0x7d) {
      const length = literalAt(bytes, i, to);
      if (length === 0) return false;
      i += length - 1;
    } else if (!seen && !isSpace(byte)) return false;
  }
  return seen;
}

/**
 * The length of `true`, `false`, `null` or the `e` of a number at `at`; 0 for any other letter, which JSON has in
 * strings only: `[sudo] password for …` is a line of text.
 */
function literalAt(bytes: Uint8Array, at: number, to: number): number {
  for (const literal of LITERALS) {
    if (at + literal.length <= to && literal.every((byte, i) => bytes[at + i] === byte)) return literal.length;
  }
  return (bytes[at] === 0x65 || bytes[at] === 0x45) && isDigit(bytes[at - 1] as number) ? 1 : 0;
}

const LITERALS = ["true", "false", "null"].map((text) => [...Buffer.from(text)]);

/** Decodes a string's escapes into `target`, which must have room for all its bytes; returns the decoded length. */
export function withoutEscapes(bytes: Uint8Array, start: number, end: number, target: Uint8Array): number {
  let out = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte !== BACKSLASH) {
      target[out++] = byte;
      continue;
    }
    const length = escapeLength(bytes, i, end);
    if (length === 2) target[out++] = SINGLE[bytes[i + 1] as number] || (bytes[i + 1] as number);
    else out += writeCodePoint(codePoint(bytes, i, length), target, out);
    i += length - 1;
  }
  return out;
}

/** Maps sorted decoded offsets to raw offsets: the start of the escape that produced each byte. */
export function rawOffsets(bytes: Uint8Array, start: number, end: number, offsets: readonly number[]): number[] {
  const raw: number[] = [];
  let decoded = 0;
  let i = start;
  for (const offset of offsets) {
    while (i < end && decoded < offset) {
      const length = bytes[i] === BACKSLASH ? escapeLength(bytes, i, end) : 1;
      decoded += length <= 2 ? 1 : writeCodePoint(codePoint(bytes, i, length), SCRATCH, 0);
      i += length;
    }
    raw.push(i);
  }
  return raw;
}

const SCRATCH = new Uint8Array(4);
const SINGLE = singleEscapes();

function singleEscapes(): Uint8Array {
  const table = new Uint8Array(256);
  for (const [letter, byte] of Object.entries({ n: 10, t: 9, r: 13, b: 8, f: 12 })) table[letter.charCodeAt(0)] = byte;
  return table;
}

/** 2 for `\n`, 6 for `\u0041`, 12 for a pair of surrogates; a truncated or invalid escape counts as 2 or less. */
function escapeLength(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at + 1] !== 0x75) return Math.min(2, end - at);
  const first = unitAt(bytes, at, end);
  if (first < 0) return Math.min(2, end - at);
  if (first < 0xd800 || first > 0xdbff || bytes[at + 6] !== BACKSLASH || bytes[at + 7] !== 0x75) return 6;
  const second = unitAt(bytes, at + 6, end);
  return second >= 0xdc00 && second <= 0xdfff ? 12 : 6;
}

function unitAt(bytes: Uint8Array, at: number, end: number): number {
  if (at + 6 > end) return -1;
  let unit = 0;
  for (let i = at + 2; i < at + 6; i++) {
    const byte = bytes[i] as number;
    const digit = byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
    if (digit < 0 || digit > 15 || (byte > 0x39 && digit < 10)) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

function codePoint(bytes: Uint8Array, at: number, length: number): number {
  const first = unitAt(bytes, at, at + 6);
  if (length === 6) return first;
  return 0x10000 + ((first - 0xd800) << 10) + (unitAt(bytes, at + 6, at + 12) - 0xdc00);
}

function writeCodePoint(code: number, target: Uint8Array, at: number): number {
  if (code < 0x80) {
    target[at] = code;
    return 1;
  }
  if (code < 0x800) {
    target[at] = 0xc0 | (code >> 6);
    target[at + 1] = 0x80 | (code & 0x3f);
    return 2;
  }
  if (code < 0x10000) {
    target[at] = 0xe0 | (code >> 12);
    target[at + 1] = 0x80 | ((code >> 6) & 0x3f);
    target[at + 2] = 0x80 | (code & 0x3f);
    return 3;
  }
  target[at] = 0xf0 | (code >> 18);
  target[at + 1] = 0x80 | ((code >> 12) & 0x3f);
  target[at + 2] = 0x80 | ((code >> 6) & 0x3f);
  target[at + 3] = 0x80 | (code & 0x3f);
  return 4;
}
