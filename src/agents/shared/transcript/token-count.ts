/** Adds up the tokens and costs of a transcript's answers. */
import { sumOfTokens, type Tokens } from "../../../model/tokens.ts";
import type { TranscriptItem } from "./items.ts";

type Usage = Extract<TranscriptItem, { kind: "usage" }>;

interface Counted extends Tokens {
  usd: number | null;
}

export class TokenCount {
  readonly #usages = new Map<string, Counted>();
  readonly #fallbacks = new Map<string, Counted>();
  #hasAnswers = false;

  add({ tokens, usd = null, key, isFallback }: Usage): void {
    this.#hasAnswers = true;
    const counts = isFallback ? this.#fallbacks : this.#usages;
    if (tokens) counts.set(key ?? `without key ${counts.size}`, { ...tokens, usd });
  }

  get sum(): Tokens {
    return sumOfTokens(this.#counts.values());
  }

  /**
   * The cost of all answers. Undefined unless every answer with tokens reports its cost; a partial sum would mislead.
   */
  get usd(): number | undefined {
    const used = [...this.#counts.values()].filter(({ input, output }) => input + output > 0);
    if (used.length === 0 || used.some(({ usd }) => usd === null)) return undefined;
    return used.reduce((sum, { usd }) => sum + (usd ?? 0), 0);
  }

  /** The number of answers that report usage. */
  get calls(): number {
    return this.#counts.size;
  }

  /** There are answers, but none reports usage, so the sum is unknown rather than zero. */
  get isUnknown(): boolean {
    return this.#hasAnswers && this.calls === 0;
  }

  get #counts(): ReadonlyMap<string, Counted> {
    return this.#usages.size === 0 ? this.#fallbacks : this.#usages;
  }
}
