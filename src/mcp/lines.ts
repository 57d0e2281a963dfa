/** Splits a client's input into lines. */
import { UserError } from "../base/errors.ts";

const NEWLINE = 10;

export class Lines {
  readonly #most: number;
  #parts: Buffer[] = [];
  #size = 0;

  /** @param most the longest line, in bytes */
  constructor(most: number) {
    this.#most = most;
  }

  /** Yields the lines that the chunk completes. Throws at a line that is too long. */
  *add(chunk: Buffer): Generator<string> {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      from = end + 1;
      const line = Buffer.concat(this.#parts).toString("utf8");
      this.#parts = [];
      this.#size = 0;
      yield line;
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#most) throw new UserError("refused", `A message has more than ${this.#most} bytes.`);
    this.#parts.push(part);
  }
}
