/** Splits a JSONL transcript into lines as byte ranges, so that callers decode and parse only what they need. */

const NEWLINE = 10;

export interface Line {
  /** The offset of the first byte. */
  start: number;
  /** The offset after the last byte, excluding the newline. */
  end: number;
}

/** Yields every complete line; skips a torn last line. */
export function* completeLines(bytes: Uint8Array, from = 0): Generator<Line> {
  let start = from;
  for (;;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end < 0) return;
    yield { start, end };
    start = end + 1;
  }
}

/** The offset at which a line begins, counted from 0; the end of the transcript if it has fewer lines. */
export function offsetOfLine(bytes: Uint8Array, line: number): number {
  let offset = 0;
  for (let i = 0; i < line; i++) {
    const end = bytes.indexOf(NEWLINE, offset);
    if (end < 0) return bytes.length;
    offset = end + 1;
  }
  return offset;
}

/** Yields the result of `read` for every complete line, except null. */
export function* readLines<T>(
  bytes: Buffer,
  read: (bytes: Buffer, line: Line) => T | null,
  from = 0,
): Generator<[read: T, at: Line]> {
  for (const at of completeLines(bytes, from)) {
    const line = read(bytes, at);
    if (line !== null) yield [line, at];
  }
}

/** Yields complete lines from last to first. */
export function* completeLinesBackwards(bytes: Uint8Array): Generator<Line> {
  let end = bytes.lastIndexOf(NEWLINE);
  while (end >= 0) {
    const before = end === 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1);
    yield { start: before + 1, end };
    end = before;
  }
}

/** The offset after the last complete line. */
export function endOfLines(bytes: Uint8Array): number {
  return bytes.lastIndexOf(NEWLINE) + 1;
}

/** True for a single JSON text rather than JSONL: if it has several lines, the first alone is not valid JSON. */
export function isOneDocument(bytes: Buffer): boolean {
  if (bytes[0] !== 0x7b && bytes[0] !== 0x5b) return false;
  const end = bytes.indexOf(NEWLINE);
  return end < 0 || parseLine(bytes, { start: 0, end }) === undefined;
}

/** True for a complete document; false while the agent is still writing it. */
export function isWholeDocument(bytes: Buffer): boolean {
  return isOneDocument(bytes) && parseLine(bytes, { start: 0, end: bytes.length }) !== undefined;
}

/** Returns a Buffer over the same memory, because Buffer searches and decodes faster. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function parseLine(bytes: Buffer, line: Line): unknown {
  try {
    return JSON.parse(bytes.toString("utf8", line.start, line.end));
  } catch {
    return undefined;
  }
}

/** Whether the line begins with `prefix`. */
export function startsWith(bytes: Uint8Array, line: Line, prefix: Uint8Array): boolean {
  if (line.end - line.start < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) {
    if (bytes[line.start + i] !== prefix[i]) return false;
  }
  return true;
}
