/** Lines of a JSONL transcript as byte ranges, so that nothing is decoded or parsed that need not be. */

const NEWLINE = 10;

export interface Line {
  /** Of the first byte. */
  start: number;
  /** Behind the last byte, the newline not counted. */
  end: number;
}

/** Every complete line; a torn last one is left out. */
export function* completeLines(bytes: Uint8Array, from = 0): Generator<Line> {
  let start = from;
  for (;;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end < 0) return;
    yield { start, end };
    start = end + 1;
  }
}

/** What `read` makes of every complete line, but for those that it makes nothing of. */
export function* readLines<T>(
  bytes: Buffer,
  read: (bytes: Buffer, line: Line) => T | null,
): Generator<[read: T, at: Line]> {
  for (const at of completeLines(bytes)) {
    const line = read(bytes, at);
    if (line !== null) yield [line, at];
  }
}

/** Complete lines from the last to the first. */
export function* completeLinesBackwards(bytes: Uint8Array): Generator<Line> {
  let end = bytes.lastIndexOf(NEWLINE);
  while (end >= 0) {
    const before = end === 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1);
    yield { start: before + 1, end };
    end = before;
  }
}

/** Behind the last complete line. */
export function endOfLines(bytes: Uint8Array): number {
  return bytes.lastIndexOf(NEWLINE) + 1;
}

/** One JSON text and not JSONL: its first line, where it has several, means nothing by itself. */
export function isOneDocument(bytes: Buffer): boolean {
  if (bytes[0] !== 0x7b && bytes[0] !== 0x5b) return false;
  const end = bytes.indexOf(NEWLINE);
  return end < 0 || parseLine(bytes, { start: 0, end }) === undefined;
}

/** A document from its beginning to its end; one that is being written is not. */
export function isWholeDocument(bytes: Buffer): boolean {
  return isOneDocument(bytes) && parseLine(bytes, { start: 0, end: bytes.length }) !== undefined;
}

/** The same memory as a Buffer, whose searches and decoding are the fast ones. */
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
