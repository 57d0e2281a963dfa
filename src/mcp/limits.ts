/** Limits on calls: an agent in a loop, or a manipulated one, must not fill the disk or keep the CPU busy. */
import { UserError } from "../base/errors.ts";
import { Rest } from "../base/process/rest.ts";

const MINUTE_MS = 60_000;
export const MAX_CALLS = 600;
export const MAX_CHANGES = 20;
const MAX_AT_ONCE = 4;
const MAX_WAITING = 50;
const MAX_TIME_MS = 30_000;
/** An agent that asks without a pause must not make the server grow. */
const CALLS_WITHOUT_PAUSE = 3;

export class Limits {
  readonly #calls: number[] = [];
  readonly #changes: number[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #working = new Set<Promise<unknown>>();
  readonly #rest = new Rest(CALLS_WITHOUT_PAUSE);
  #running = 0;

  /** Runs one call. A call that changes something waits for those before it. */
  async run<T>(isChange: boolean, work: () => Promise<T>): Promise<T> {
    refuseMany(this.#calls, MAX_CALLS, "calls");
    if (isChange) refuseMany(this.#changes, MAX_CHANGES, "savepoints and proposals");
    await this.#enter();
    const working = work().finally(() => {
      this.#working.delete(working);
      this.#leave();
    });
    this.#working.add(working);
    return inTime(working);
  }

  /** Resolves when no call is running. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#working);
  }

  async #enter(): Promise<void> {
    this.#rest.end();
    if (this.#running < MAX_AT_ONCE) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING)
      throw new UserError("refused", "Too many calls at once.", "Wait a moment.");
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else if (--this.#running === 0) this.#rest.begin();
  }
}

function refuseMany(times: number[], most: number, what: string): void {
  const now = performance.now();
  while ((times[0] ?? now) < now - MINUTE_MS) times.shift();
  if (times.length >= most)
    throw new UserError("refused", `More than ${most} ${what} within a minute.`, "Wait a minute.");
  times.push(now);
}

/** The work itself continues: it can't be stopped halfway, and its files are written atomically. */
async function inTime<T>(working: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new UserError("failed", "This took too long.", "Ask for less: name a file, or a later state.");
    timer = setTimeout(() => reject(error), MAX_TIME_MS);
  });
  working.catch(() => undefined);
  try {
    return await Promise.race([working, late]);
  } finally {
    clearTimeout(timer);
  }
}
