/** Token counts, as agents report them. */
export interface Tokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export const NO_TOKENS: Readonly<Tokens> = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Parses an agent's token count; an invalid value counts as 0. */
export function tokenCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The growth of a running count; never negative. */
export function tokensBetween(before: Tokens, after: Tokens): Tokens {
  return {
    input: Math.max(0, after.input - before.input),
    output: Math.max(0, after.output - before.output),
    cacheRead: Math.max(0, after.cacheRead - before.cacheRead),
    cacheWrite: Math.max(0, after.cacheWrite - before.cacheWrite),
  };
}

export function addTokens(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

export function sumOfTokens(counts: Iterable<Tokens>): Tokens {
  return [...counts].reduce(addTokens, { ...NO_TOKENS });
}
