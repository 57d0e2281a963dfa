/** Finds tokens that a terminal, a backslash or a person broke over lines, if their prefix identifies them. */
import { ALPHANUMERIC, BACKSLASH, type ByteSet, byteSet, isWord, NEWLINE } from "../bytes.ts";
import type { Rule } from "../rules.ts";
import { hasPathOfWords, isWordy } from "./value.ts";

/** The minimum length before the first break. */
const MIN_HEAD = 8;
const MIN_CONTINUATION = 6;
const MAX_BREAKS = 60;
const MAX_INDENT = 16;

/**
 * Returns the end of a shape that begins at `start` and contains line breaks; -1 if it contains none or does not match.
 */
export function matchWrapped(rule: Rule, bytes: Buffer, start: number, to: number): number {
  let at = start;
  let breaks = 0;
  let resumed = start;
  const passBreak = () => {
    const length = at - start >= MIN_HEAD && breaks < MAX_BREAKS ? lineBreakAt(bytes, at, to) : 0;
    at += length;
    breaks += length > 0 ? 1 : 0;
    if (length > 0) resumed = at;
    return length > 0;
  };
  const last = rule.pieces.at(-1);
  for (const piece of rule.pieces) {
    if ("set" in piece) {
      let count = 0;
      while (count < piece.most && at < to) {
        if (piece.set[bytes[at] as number] === 1) {
          at++;
          count++;
          continue;
        }
        const isEnough = piece === last && count >= piece.least;
        if (isEnough && !goesOn(bytes, at, to, piece.set, piece.most - count)) break;
        if (!passBreak()) break;
      }
      if (count < piece.least) return -1;
    } else {
      for (const byte of piece.fixed) {
        if (bytes[at] !== byte) passBreak();
        if (at >= to || bytes[at] !== byte) return -1;
        at++;
      }
    }
  }
  if (breaks === 0) return -1;
  // The next line is an unrelated word.
  return at - resumed >= 4 && isWordy(bytes.toString("latin1", resumed, at)) ? -1 : at;
}

const VALUE = byteSet(`${ALPHANUMERIC}+/_-.%~`);
const MIN_VALUE = 8;

/**
 * Returns where a random value that breaks off at `at` continues: at the start of the next line, if nothing else could
 * be there. With `quote`, the value must also end there.
 */
export function continuation(
  bytes: Buffer,
  at: number,
  to: number,
  quote?: number,
): { start: number; end: number } | undefined {
  const start = at + lineBreakAt(bytes, at, to);
  if (start === at) return undefined;
  let end = start;
  while (end < to && VALUE[bytes[end] as number] === 1) end++;
  const text = bytes.toString("latin1", start, Math.min(end, start + MAX_CONTINUATION));
  while (end < to && bytes[end] === 0x3d) end++;
  const next = end < to ? (bytes[end] as number) : NEWLINE;
  if (quote === undefined ? !ENDS.includes(next) : next !== quote) return undefined;
  if (end - start < MIN_VALUE || end - start > MAX_CONTINUATION || isWordy(text) || !/[A-Za-z]/.test(text))
    return undefined;
  return (text.match(/\d/g)?.length ?? 0) >= 2 && !hasPathOfWords(text) && !/^[a-z]+[/.]/.test(text)
    ? { start, end }
    : undefined;
}

const MAX_CONTINUATION = 400;
const ENDS = Buffer.from(" \t\r\n\"'`;,&)}]<\\");

/** The length of the line break at `at`, with a backslash before it and spaces after it; also of a literal `\n`. */
function lineBreakAt(bytes: Uint8Array, at: number, to: number): number {
  let end = at;
  while (end < to && end < at + 7 && bytes[end] === BACKSLASH) end++;
  const slashes = end - at;
  if (slashes > 0 && bytes[end] === 0x6e) end++;
  else {
    if (bytes[end] === 0x0d) end++;
    if (bytes[end] !== NEWLINE || slashes > 1) return 0;
    end++;
  }
  const line = end;
  while (end < to && end < line + MAX_INDENT && (bytes[end] === 0x20 || bytes[end] === 0x09)) end++;
  return end < to ? end - at : 0;
}

/** Whether the next line continues the token, if the part before it could already be complete. */
function goesOn(bytes: Buffer, at: number, to: number, set: ByteSet, most: number): boolean {
  const start = at + lineBreakAt(bytes, at, to);
  if (start === at) return false;
  let end = start;
  while (end < to && end < start + most && set[bytes[end] as number] === 1) end++;
  if (end - start < MIN_CONTINUATION || (end < to && isWord(bytes[end]))) return false;
  const text = bytes.toString("latin1", start, end);
  return /\d/.test(text) && /[A-Za-z]/.test(text) && !isWordy(text);
}

export function isLineEnd(bytes: Uint8Array, at: number, to: number): boolean {
  return at < to && (bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x5c);
}
