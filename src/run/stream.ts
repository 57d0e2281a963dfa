/**
 * The agent's output as lines. Memory is bounded: a line that is longer than `LONGEST_LINE` is passed over and only
 * counted, and what is no JSON object is left out.
 */
import { isUtf8 } from "node:buffer";
import { isRecord } from "../agents/profile.ts";

export const LONGEST_LINE = 16 * 1024 * 1024;
const NEWLINE = 10;
const BRACE = 123;

export interface LineSink {
  /** A JSON object, and its line without the newline, as the agent wrote it. */
  line(value: Record<string, unknown>, bytes: Buffer): void;
  /** A line that was too long, and how long. */
  tooLong(bytes: number): void;
  /** Anything else. */
  other?(bytes: Buffer): void;
}

export class LineSplitter {
  readonly #sink: LineSink;
  readonly #longest: number;
  #parts: Buffer[] = [];
  /** Of the line so far, also where it is no longer kept. */
  #length = 0;

  constructor(sink: LineSink, longest = LONGEST_LINE) {
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
    // The runtime uses a chunk's memory again.
    if (start < chunk.length) this.#add(Buffer.from(chunk.subarray(start)));
  }

  /** The last line may have no newline. */
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

/** The object that a line holds; undefined where it holds anything else. */
export function objectIn(bytes: Buffer): Record<string, unknown> | undefined {
  if (bytes[0] !== BRACE || !isUtf8(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Without white space around it. */
function trimmed(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && (bytes[start] ?? 0) <= 32) start++;
  while (end > start && (bytes[end - 1] ?? 0) <= 32) end--;
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
}
