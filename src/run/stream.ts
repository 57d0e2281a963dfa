/**
 * Splits the agent's output into lines. Memory is bounded: a line longer than `MAX_LINE` is only counted, and a line
 * that is not a JSON object is skipped.
 */
import { isUtf8 } from "node:buffer";
import { isRecord } from "../base/json.ts";

const MAX_LINE = 16 * 1024 * 1024;
const NEWLINE = 10;
const BRACE = 123;

export interface LineSink {
  /** Receives a JSON object and its original line without the newline. */
  line(value: Record<string, unknown>, bytes: Buffer): void;
  /** Receives the length of a line that was too long. */
  tooLong(bytes: number): void;
  /** Receives any other line. */
  other?(bytes: Buffer): void;
}

export class LineSplitter {
  readonly #sink: LineSink;
  readonly #longest: number;
  #parts: Buffer[] = [];
  /** The length of the current line, including bytes that are no longer kept. */
  #length = 0;

  constructor(sink: LineSink, longest = MAX_LINE) {
    this.#sink = sink;
    this.#longest = longest;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end < 0) break;
      this.#add(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    // Copy the rest: the runtime reuses the chunk's memory.
    if (start < chunk.length) this.#add(Buffer.from(chunk.subarray(start)));
  }

  /** Flushes the last line, which may have no newline. */
  end(): void {
    if (this.#length > 0) this.#finish();
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#longest) this.#parts = [];
    else this.#parts.push(part);
  }

  #finish(): void {
    const length = this.#length;
    const parts = this.#parts;
    this.#parts = [];
    this.#length = 0;
    if (length > this.#longest) {
      this.#sink.tooLong(length);
      return;
    }
    const bytes = trimmed(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts));
    const value = objectIn(bytes);
    if (value) this.#sink.line(value, bytes);
    else this.#sink.other?.(bytes);
  }
}

/** Parses a line as a JSON object; undefined if it is anything else. */
export function objectIn(bytes: Buffer): Record<string, unknown> | undefined {
  if (bytes[0] !== BRACE || !isUtf8(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function trimmed(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && (bytes[start] ?? 0) <= 32) start++;
  while (end > start && (bytes[end - 1] ?? 0) <= 32) end--;
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
}
