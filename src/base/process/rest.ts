/** For servers that wait most of their time: gives memory back to the system when there is nothing to do. */
import { collectGarbage } from "../runtime.ts";

const AFTER_MS = 500;

export class Rest {
  readonly #maxWithoutPause: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #count = 0;

  /** After this many tasks without a pause, callers no longer wait for one. */
  constructor(maxWithoutPause = Number.POSITIVE_INFINITY) {
    this.#maxWithoutPause = maxWithoutPause;
  }

  /** There is something to do. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Called once when there is no more work, so that an idle server stays idle. */
  begin(): void {
    this.end();
    this.#count++;
    // Behind the answer, which is written first.
    if (this.#count >= this.#maxWithoutPause) setImmediate(() => this.#collect()).unref();
    else this.#timer = setTimeout(() => this.#collect(), AFTER_MS).unref();
  }

  #collect(): void {
    this.#count = 0;
    collectGarbage();
  }
}
