/** Limits requests per caller, in memory: each hub process counts for itself. */

interface Bucket {
  tokens: number;
  at: number;
}

const MAX_BUCKETS = 100_000;

/** A token bucket per key: `burst` requests at once, refilled at `perSecond`. */
export class RateLimit {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
  }

  /** Takes one request; returns 0, or the number of seconds to wait. */
  take(key: string, now = performance.now()): number {
    const bucket = this.#buckets.get(key) ?? { tokens: this.#burst, at: now };
    bucket.tokens = Math.min(this.#burst, bucket.tokens + ((now - bucket.at) / 1000) * this.#perSecond);
    bucket.at = now;
    if (this.#buckets.size >= MAX_BUCKETS && !this.#buckets.has(key)) this.#buckets.clear();
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.#perSecond);
    bucket.tokens -= 1;
    return 0;
  }
}
