/** Limits how many tasks run at once; the others wait in order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Returns false if none became free in time. */
  async take(waitMs: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const next = () => resolve(true);
    this.#waiting.push(next);
    const timer = setTimeout(() => {
      const at = this.#waiting.indexOf(next);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      resolve(false);
    }, waitMs);
    const taken = await promise;
    clearTimeout(timer);
    return taken;
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
