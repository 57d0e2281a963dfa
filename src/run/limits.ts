/** Parses and checks the time limit and the budget of a run. */
import { RunError } from "./problems.ts";
import type { Usage } from "./result.ts";

export interface Limits {
  timeoutMs: number | null;
  budget: Budget | null;
}

/** A limit in tokens or in US dollars. */
export interface Budget {
  tokens: number | null;
  cost: number | null;
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** The largest delay that setTimeout accepts. */
const MAX_MS = 2 ** 31 - 1;

/** "90" (seconds), "30s", "10m", "1h30m". */
export function parseTime(text: string): number {
  const words = text.trim().toLowerCase();
  const bare = /^\d+(?:\.\d+)?$/.test(words) ? `${words}s` : words;
  const parts = [...bare.matchAll(/(\d{1,9}(?:\.\d{1,9})?)\s?(ms|min|[smhd])\s?/g)];
  const time = parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
  const whole = parts.map(([part]) => part).join("") === bare;
  if (whole && time >= 1 && time <= MAX_MS) return Math.round(time);
  throw new RunError("usage", { kind: "not-a-time", text });
}

/** "50000", "50k", "1.5M" (tokens), "$0.50", "0.5usd". */
export function parseBudget(text: string): Budget {
  const words = text.trim().toLowerCase();
  const cost = /^\$\s*(\d+(?:\.\d+)?)$/.exec(words) ?? /^(\d+(?:\.\d+)?)\s*(?:\$|usd)$/.exec(words);
  if (cost && Number(cost[1]) > 0) return { tokens: null, cost: Number(cost[1]) };
  const tokens = /^(\d+(?:\.\d+)?)\s*([km]?)(?:\s*tokens?)?$/.exec(words);
  const count = tokens ? Math.round(Number(tokens[1]) * ({ k: 1e3, m: 1e6 }[tokens[2] ?? ""] ?? 1)) : 0;
  if (count >= 1 && Number.isSafeInteger(count)) return { tokens: count, cost: null };
  throw new RunError("usage", { kind: "not-a-budget", text });
}

/** Cache reads do not count: those tokens were paid for when they were written to the cache. */
export function countedTokens({ tokens }: Usage): number {
  return tokens.input + tokens.output + tokens.cacheWrite;
}

export function overBudget(usage: Usage | null, budget: Budget | null): boolean {
  if (budget === null || usage === null) return false;
  if (budget.tokens !== null) return countedTokens(usage) > budget.tokens;
  return budget.cost !== null && usage.cost !== null && usage.cost.usd > budget.cost;
}
