/** Redaction of a transcript that grows: whole lines as they come, so that a turn costs what it has added. */
import { asBuffer, endOfLines } from "../lines.ts";
import type { Finding, RedactOptions, Redactor } from "./redactor.ts";

export interface RedactedTail {
  bytes: Buffer;
  found: Finding[];
  /** So many bytes of the input were used: up to the end of its last whole line. */
  used: number;
}

/** The whole lines of a tail that begins at a line's beginning. What is behind them is left for the next time. */
export function redactTail(redactor: Redactor, tail: Uint8Array, options: RedactOptions): RedactedTail {
  const used = endOfLines(tail);
  return { ...redactor.redact(asBuffer(tail).subarray(0, used), { format: "jsonl", ...options }), used };
}

/** Redacts pieces as they come; the last line may lack its newline. */
export class RedactionStream {
  readonly #redactor: Redactor;
  readonly #options: RedactOptions;
  #rest: Buffer[] = [];

  constructor(redactor: Redactor, options: RedactOptions) {
    this.#redactor = redactor;
    this.#options = { format: "jsonl", ...options };
  }

  push(piece: Uint8Array): Buffer {
    const bytes = asBuffer(piece);
    const end = endOfLines(bytes);
    if (end === 0) {
      this.#rest.push(Buffer.from(bytes));
      return Buffer.alloc(0);
    }
    const whole = Buffer.concat([...this.#rest, bytes.subarray(0, end)]);
    this.#rest = end < bytes.length ? [Buffer.from(bytes.subarray(end))] : [];
    return this.#redactor.redact(whole, this.#options).bytes;
  }

  end(): Buffer {
    const rest = Buffer.concat(this.#rest);
    this.#rest = [];
    return this.#redactor.redact(rest, this.#options).bytes;
  }
}
