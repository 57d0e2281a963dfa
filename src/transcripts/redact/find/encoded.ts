/**
 * Finds encoded secrets: base64 (also over several lines, and of UTF-16) and %XX. Scans the decoded text like any
 * other.
 */
import { ALPHANUMERIC, BACKSLASH, byteSet, NEWLINE } from "../bytes.ts";

/** Shorter runs have no room for a name with a secret, or for a token. */
export const MIN_BASE64 = 16;
const MIN_LINE = 48;
const MAX_SLASHES = 8;
const PREFIX = 12;
/** A run of base64 may begin after these characters: they are in its alphabet, and also in paths and names. */
const MAX_STARTS = 4;
const START_WINDOW = 64;

const VALUES = base64Values();
const RUN = byteSet(`${ALPHANUMERIC}+/_-`);
const SEPARATES = byteSet("+/_-");
/** The characters of an address, a form or a cookie. */
const URL_BYTES = byteSet(`${ALPHANUMERIC}%-._~!*'();:@&=+$,/?#[]`);

export interface Encoded {
  start: number;
  end: number;
  text: Buffer;
}

/** Finds base64 in a run of its alphabet, and in the lines that continue it, if it decodes to text. */
export function base64At(bytes: Buffer, from: number, start: number, end: number, to: number): Encoded | undefined {
  // A literal `\n` puts its letter at the beginning of the run.
  const first = start > from && bytes[start - 1] === BACKSLASH && !beginsText(bytes, start) ? start + 1 : start;
  if (beginsText(bytes, first)) return decodedAt(bytes, first, end, to);
  let count = 0;
  const last = Math.min(end - MIN_BASE64, start + START_WINDOW);
  for (let at = start; at < last && count < MAX_STARTS; at++) {
    if (SEPARATES[bytes[at] as number] !== 1) continue;
    if (beginsText(bytes, at + 1)) return decodedAt(bytes, at + 1, end, to);
    count++;
  }
  return undefined;
}

function decodedAt(bytes: Buffer, begin: number, end: number, to: number): Encoded | undefined {
  if (end - begin < MIN_BASE64) return undefined;
  const stop = endOfLines(bytes, begin, end, to);
  const text = textOf(Buffer.from(bytes.toString("latin1", begin, stop).replace(/\\{1,8}[nr]|\s/g, ""), "base64"));
  return text && { start: begin, end: stop, text };
}

/** Whether the first decoded bytes are printable, or UTF-16. */
export function beginsText(bytes: Uint8Array, at: number): boolean {
  let wide = true;
  let plain = true;
  let index = 0;
  /** The number of bytes left in a character outside of ASCII. */
  let open = 0;
  for (let i = at; i < at + PREFIX; i += 4) {
    const a = VALUES[bytes[i] as number] as number;
    const b = VALUES[bytes[i + 1] as number] as number;
    const c = VALUES[bytes[i + 2] as number] as number;
    const d = VALUES[bytes[i + 3] as number] as number;
    if ((a | b | c | d) < 0) return false;
    const bits = (a << 18) | (b << 12) | (c << 6) | d;
    for (let shift = 16; shift >= 0; shift -= 8, index++) {
      const byte = (bits >> shift) & 255;
      const isText = open > 0 ? byte >> 6 === 2 : isPlain(byte) || (byte >= 0xc3 && byte < 0xf5);
      open = open > 0 ? open - 1 : byte < 0xc3 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      // Most runs are rejected here, by their first byte.
      if (!isText && index % 2 === 0) return false;
      wide &&= index % 2 === 1 ? byte === 0 : isText;
      plain &&= isText;
    }
    if (!wide && !plain) return false;
  }
  return true;
}

/** Base64 is often written in lines of the same length: joins them; the last one may be shorter. */
function endOfLines(bytes: Buffer, begin: number, end: number, to: number): number {
  let stop = end;
  let length = end - begin;
  while (length >= MIN_LINE) {
    const next = afterLineBreak(bytes, stop, to);
    let last = next;
    while (last < to && RUN[bytes[last] as number] === 1) last++;
    if (next === stop || last === next || last - next > length) break;
    [length, stop] = [last - next, last];
  }
  while (stop < to && stop < end + 2 && bytes[stop] === 0x3d) stop++;
  while (stop > end && stop < to && bytes[stop] === 0x3d) stop++;
  return stop;
}

function afterLineBreak(bytes: Uint8Array, at: number, to: number): number {
  let next = at;
  if (next < to && bytes[next] === 0x0d) next++;
  if (next < to && bytes[next] === NEWLINE) return next + 1;
  let slash = at;
  while (slash < to && slash < at + MAX_SLASHES && bytes[slash] === BACKSLASH) slash++;
  return slash > at && bytes[slash] === 0x6e ? slash + 1 : at;
}

function textOf(decoded: Buffer): Buffer | undefined {
  if (decoded.length < 8) return undefined;
  const isWide = decoded[1] === 0 && decoded[3] === 0;
  const text = isWide ? Buffer.from(decoded.toString("utf16le")) : decoded;
  let odd = 0;
  for (let i = 0; i < text.length; i++) if (!isPlain(text[i] as number) && (text[i] as number) < 0x80) odd++;
  return odd * 20 > text.length ? undefined : text;
}

/** Words separated by spaces, or JSON: in these, a secret need not be random. */
export function isProse(text: Buffer): boolean {
  return /[A-Za-z]{2} [A-Za-z]{2}|^\{"/.test(text.toString("latin1", 0, 200));
}

function isPlain(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The run of an address around `at`, not before `from`; undefined if it has no %XX and is not a form. */
export function percentRun(
  bytes: Uint8Array,
  from: number,
  at: number,
  to: number,
  isForm: boolean,
): { start: number; end: number } | undefined {
  if (!isForm && (at + 2 >= to || hex(bytes[at + 1]) < 0 || hex(bytes[at + 2]) < 0)) return undefined;
  let start = at;
  while (start > from && URL_BYTES[bytes[start - 1] as number] === 1) start--;
  let end = at;
  while (end < to && URL_BYTES[bytes[end] as number] === 1) end++;
  return { start, end };
}

/**
 * Decodes %XX (and, in a form, `+` as a space). Also returns the start of each decoded byte; the last entry is the end.
 */
export function withoutPercent(
  bytes: Uint8Array,
  start: number,
  end: number,
  form: boolean,
): { text: Buffer; places: Uint32Array } {
  const text = Buffer.alloc(end - start);
  const places = new Uint32Array(end - start + 1);
  let out = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    places[out] = i;
    const high = byte === 0x25 && i + 2 < end ? hex(bytes[i + 1]) : -1;
    const low = high < 0 ? -1 : hex(bytes[i + 2]);
    if (low >= 0) {
      text[out++] = high * 16 + low;
      i += 2;
    } else text[out++] = form && byte === 0x2b ? 0x20 : byte;
  }
  places[out] = end;
  return { text: text.subarray(0, out), places };
}

function hex(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function base64Values(): Int8Array {
  const values = new Int8Array(256).fill(-1);
  for (let i = 0; i < 64; i++) {
    values["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".charCodeAt(i)] = i;
  }
  values[0x2d] = 62;
  values[0x5f] = 63;
  return values;
}
