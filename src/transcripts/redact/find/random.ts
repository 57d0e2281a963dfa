/** Finds tokens without any keyword: long, of mixed characters, without a pattern. */
import { ALPHANUMERIC, BACKSLASH, byteSet, NEWLINE } from "../bytes.ts";
import { entropyOf, makeOf } from "./value.ts";

const SHORTEST = 28;
const LONGEST = 100;
const TOKEN = byteSet(`${ALPHANUMERIC}_-+/`);

/**
 * Calls `visit` for every run of at least `shortest` such characters, and continues where it says. Skips most bytes of
 * a text that can't contain one.
 */
export function eachRun(
  bytes: Uint8Array,
  from: number,
  to: number,
  shortest: number,
  visit: (start: number, end: number) => number,
): void {
  let start = from;
  while (start + shortest <= to) {
    // A run at `start` needs all of these bytes. Check from the last one back: the first that doesn't fit decides.
    let at = start + shortest - 1;
    while (at >= start && TOKEN[bytes[at] as number] === 1) at--;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    let end = start + shortest;
    while (end < to && TOKEN[bytes[end] as number] === 1) end++;
    start = visit(start, end);
  }
}

/** Calls `found` for the random parts of a run. */
export function lookForRandom(
  bytes: Uint8Array,
  from: number,
  start: number,
  runEnd: number,
  to: number,
  found: (start: number, end: number) => void,
): void {
  if (runEnd - start < SHORTEST) return;
  let end = runEnd;
  if (bytes[end] === 0x3d && end < to) end++;
  if (bytes[end] === 0x3d && end < to) end++;
  if (end - start > LONGEST || !isRandom(bytes, start, end)) return;
  const parts = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
    .toString("latin1")
    .split("/");
  if (!parts.some((part) => /^[a-z]{2,}$/.test(part))) {
    if (!isKnown(bytes, from, start, end, to)) found(start, end);
    return;
  }
  // In a path, only a name can be random.
  if (isBlock(bytes, from, start, end, to)) return;
  let at = start;
  for (const { length } of parts) {
    const random = length >= SHORTEST && isRandom(bytes, at, at + length);
    if (random && !isKnown(bytes, from, at, at + length, to)) found(at, at + length);
    at += length + 1;
  }
}

function isRandom(bytes: Uint8Array, start: number, end: number): boolean {
  const make = makeOf(bytes, start, end);
  if (make.digits < 3 || make.capitals < 3 || make.small < 3) return false;
  if (make.changes - make.humps < make.length * 0.29 || entropyOf(bytes, start, end) < 4.2) return false;
  return !isMadeOfWords(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1"));
}

/** `Qwen3-Coder-480B-A35B-Instruct`, `sk_X509_VERIFY_PARAM_set_cmp`: words with versions and sizes. */
function isMadeOfWords(text: string): boolean {
  const parts = text.split(/[-_/+]/);
  const letters = parts.reduce(
    (sum, part) => sum + (/^(?:[A-Z]*[a-z]{2,}(?:[A-Z][a-z]+)*|[A-Z]{2,})\d{0,4}$/.test(part) ? part.length : 0),
    0,
  );
  return parts.length >= 3 && parts.every((part) => part.length <= 14) && letters * 5 >= text.length * 2;
}

/** Random text that is not secret: checksums, public keys, ids of agents and models, blocks of base64. */
function isKnown(bytes: Uint8Array, from: number, start: number, end: number, to: number): boolean {
  const token = Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.min(24, end - start)).toString("latin1");
  if (
    /^(?:sha\d+[-_]|AAAA|MII[A-Z]|[a-z]{2,14}_0?1|(?:toolu|msg|req|call|resp|rs|fc|ses|prt|run|evt|thread|asst|step|chatcmpl|gen|file|cas|srvtoolu|batch)[_-])/.test(
      token,
    )
  )
    return true;
  const before = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + Math.max(from, start - 16),
    start - Math.max(from, start - 16),
  );
  if (
    /(?:h1:|sha\d{1,3}["'=:~ -]{1,3}|base64,|SHA256:|[?&/](?:v|d|id|hash|commit)[=/]?)$/i.test(
      before.toString("latin1"),
    )
  )
    return true;
  return isBlock(bytes, from, start, end, to);
}

/** True for a line of a longer block: the line above or below looks the same. */
function isBlock(bytes: Uint8Array, from: number, start: number, end: number, to: number): boolean {
  let next = end;
  while (next < to && next < end + 16 && JOINS[bytes[next] as number] === 1) next++;
  let after = next;
  while (after < to && after < next + 20 && TOKEN[bytes[after] as number] === 1) after++;
  if (after - next >= 20 && hasNewline(bytes, end, next)) return true;
  let before = start;
  while (before > from && before > start - 16 && JOINS[bytes[before - 1] as number] === 1) before--;
  let first = before;
  while (first > from && first > before - 40 && TOKEN[bytes[first - 1] as number] === 1) first--;
  return before - first >= 40 && hasNewline(bytes, before, start);
}

/** The text between two lines of a block, also in code. */
const JOINS = byteSet(" \t\r\n\\\"',+");

function hasNewline(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++)
    if (bytes[i] === NEWLINE || (bytes[i] === BACKSLASH && bytes[i + 1] === 0x6e)) return true;
  return false;
}
