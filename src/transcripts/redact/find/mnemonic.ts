/** Finds recovery phrases of wallets (BIP-39): at least twelve words from a list of 2048. */
import { byteSet, NEWLINE, SMALL } from "../bytes.ts";
import { WORD_MARKS } from "./mnemonic-words.ts";

const MIN_WORDS = 12;
const MAX_GAP = 10;
/** The shortest phrase: twelve words of three letters. */
const MIN_PHRASE = MIN_WORDS * 4 - 1;
const PHRASE = byteSet(`${SMALL} \n`);
const LETTER = byteSet(SMALL);

let known: Uint16Array | undefined;

/** Calls `found` for every phrase. Skips most bytes of a text that can't contain one. */
export function eachMnemonic(
  bytes: Buffer,
  from: number,
  to: number,
  found: (start: number, end: number) => void,
): void {
  let start = from;
  while (start + MIN_PHRASE <= to) {
    // A phrase at `start` needs all of these bytes. Check from the last one back: the first that doesn't fit decides.
    let at = start + MIN_PHRASE - 1;
    while (at >= start && PHRASE[bytes[at] as number] === 1) at--;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    let end = start + MIN_PHRASE;
    while (end < to && PHRASE[bytes[end] as number] === 1) end++;
    look(bytes, start, end, found);
    start = end + 1;
  }
}

function look(bytes: Buffer, from: number, to: number, found: (start: number, end: number) => void): void {
  let first = from;
  let last = from;
  let count = 0;
  for (let at = from; at < to; ) {
    let start = at;
    while (start < to && LETTER[bytes[start] as number] !== 1) start++;
    let end = start;
    while (end < to && LETTER[bytes[end] as number] === 1) end++;
    const isNext = markOf(bytes, start, end) >= 0 && (count === 0 || isGap(bytes, at, start));
    if (!isNext && count >= MIN_WORDS && isMixed(bytes, first, last)) found(first, last);
    if (!isNext) count = 0;
    else {
      if (count++ === 0) first = start;
      last = end;
    }
    at = Math.max(end, start);
  }
  if (count >= MIN_WORDS && isMixed(bytes, first, last)) found(first, last);
}

/** One space, or a line break with spaces around it. */
function isGap(bytes: Buffer, start: number, end: number): boolean {
  return end - start === 1 || (end - start <= MAX_GAP && bytes.subarray(start, end).includes(NEWLINE));
}

/** A sorted list of keywords and repeated words are not phrases. */
function isMixed(bytes: Buffer, start: number, end: number): boolean {
  const words = bytes.toString("latin1", start, end).split(/\s+/);
  const rising = words.filter((word, i) => word > (words[i - 1] ?? "")).length;
  return new Set(words).size * 2 >= words.length && rising * 8 < words.length * 7;
}

/** The first four letters as a number; -1 for a word that is not in the list. */
function markOf(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length < 3 || length > 8) return -1;
  known ??= table();
  let code = 0;
  for (let i = 0; i < 4; i++) code = code * 27 + (i < length ? (bytes[start + i] as number) - 0x60 : 0);
  return known[code] === (bytes[end - 1] as number) * 16 + length ? code : -1;
}

/** The last letter and the length of each word, by its first four letters. */
function table(): Uint16Array {
  const words = new Uint16Array(27 ** 4);
  for (let at = 0; at < WORD_MARKS.length; at += 6) {
    let code = 0;
    for (let i = at; i < at + 4; i++) code = code * 27 + (WORD_MARKS[i] === " " ? 0 : WORD_MARKS.charCodeAt(i) - 0x60);
    words[code] = WORD_MARKS.charCodeAt(at + 4) * 16 + Number(WORD_MARKS[at + 5]);
  }
  return words;
}
