/** Tokens that nothing announces: long, of all kinds of characters, with no pattern in them. */
import { ALPHANUMERIC, BACKSLASH, byteSet, NEWLINE } from "./bytes.ts";
import { entropyOf, makeOf } from "./value.ts";

const SHORTEST = 28;
const LONGEST = 100;
const TOKEN = byteSet(`${ALPHANUMERIC}_-+/`);

/** Calls `found` for every such token. Where none can be, most bytes are never looked at. */
export function eachRandom(
  bytes: Uint8Array,
  from: number,
  to: number,
  found: (start: number, end: number) => void,
): void {
  let start = from;
  while (start + SHORTEST <= to) {
    // A run of SHORTEST from `start` on needs all of them: from its last byte back, the first that is none decides.
    let at = start + SHORTEST - 1;
    while (at >= start && TOKEN[bytes[at] as number] === 1) at--;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    let end = start + SHORTEST;
    while (end < to && TOKEN[bytes[end] as number] === 1) end++;
    const after = end + 1;
    if (bytes[end] === 0x3d && end < to) end++;
    if (bytes[end] === 0x3d && end < to) end++;
    look(bytes, from, start, end, to, found);
    start = after;
  }
}

function look(
  bytes: Uint8Array,
  from: number,
  start: number,
  end: number,
  to: number,
  found: (start: number, end: number) => void,
): void {
  if (end - start > LONGEST || !isRandom(bytes, start, end)) return;
  const parts = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
    .toString("latin1")
    .split("/");
  if (!parts.some((part) => /^[a-z]{2,}$/.test(part))) {
    if (!isKnown(bytes, from, start, end, to)) found(start, end);
    return;
  }
  // A path: what is random in it is a name in it.
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
  return make.changes - make.humps >= make.length * 0.29 && entropyOf(bytes, start, end) >= 4.2;
}

/** Checksums, public keys, ids of agents and models, blocks of base64: random, and no secrets. */
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

/** A line of a longer block: the line above or below is one of the same kind. */
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

/** What stands between the lines of a block, also where it is written as code. */
const JOINS = byteSet(" \t\r\n\\\"',+");

function hasNewline(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++)
    if (bytes[i] === NEWLINE || (bytes[i] === BACKSLASH && bytes[i + 1] === 0x6e)) return true;
  return false;
}
