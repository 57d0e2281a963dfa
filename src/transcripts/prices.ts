/**
 * Estimates the cost of tokens by the list prices of the model's seller, for agents that do not report costs. A model
 * without a price has an unknown cost, never zero. `prices.json` is generated, and records its source and date.
 */
import type { Tokens } from "../model/tokens.ts";
import table from "./prices.json";

/** US dollars, as the agent reported them or as we estimated them. */
export interface Cost {
  usd: number;
  estimated: boolean;
}

/** Tokens of one model, by one agent, at one time. */
export interface Use {
  agent: string | null;
  model: string | null;
  tokens: Tokens;
  time: string | null;
  /** The cost that the agent reports. */
  usd?: number | undefined;
}

type Seller = (typeof table.sellers)[number];

interface Period {
  from?: string;
  between?: string[];
  prices: (number | null)[];
}

/** Agents that sell models at their own prices. Models without such a price are looked up as usual. */
const SOLD_BY: Readonly<Record<string, string>> = { "copilot-cli": "github-copilot", cursor: "cursor" };
/** Alternative spellings of a seller's prefix. */
const SPELLINGS: Readonly<Record<string, string>> = { xai: "x-ai", moonshot: "moonshotai", "z-ai": "zai" };
const MAX_NAME = 200;
const MILLION = 1e6;
/** Costs are rounded to this fraction of a dollar, to remove floating-point noise. */
const PARTS = 1e9;

/** The date of the prices. */
export const PRICES_OF = table.date;

/** The total cost; null if any use has no price. */
export function estimatedCost(uses: Iterable<Use>): Cost | null {
  let usd = 0;
  let estimated = false;
  let used = false;
  for (const use of uses) {
    if (isNone(use.tokens)) continue;
    used = true;
    if (use.usd !== undefined) {
      usd += use.usd;
      continue;
    }
    const prices = pricesOf(use);
    if (prices === null) return null;
    usd += priceOf(use.tokens, prices);
    estimated = true;
  }
  return costOf(usd, estimated || !used);
}

export function hasPrice(agent: string, model: string): boolean {
  return pricesOf({ agent, model, time: null }) !== null;
}

/** A part without tokens adds nothing. A part with tokens of unknown cost makes the sum unknown. */
export function sumOfCosts(parts: Iterable<{ tokens: Tokens | null; cost: Cost | null }>): Cost | null {
  const sum: Cost = { usd: 0, estimated: false };
  let isReported = false;
  for (const { tokens, cost } of parts) {
    if (cost) {
      sum.usd += cost.usd;
      sum.estimated ||= cost.estimated;
      isReported = true;
    } else if (tokens && !isNone(tokens)) return null;
  }
  return isReported ? costOf(sum.usd, sum.estimated) : null;
}

function isNone({ input, output, cacheRead, cacheWrite }: Tokens): boolean {
  return input + output + cacheRead + cacheWrite === 0;
}

/** Counts come from agents and may be absurd, so the result may not be finite. */
function costOf(usd: number, estimated: boolean): Cost | null {
  const rounded = Math.round(usd * PARTS) / PARTS;
  return Number.isFinite(rounded) ? { usd: rounded, estimated } : null;
}

function priceOf(tokens: Tokens, [input, output, cacheRead, cacheWrite]: (number | null)[]): number {
  const [usual, said] = [input ?? 0, output ?? 0];
  const read = tokens.cacheRead * (cacheRead ?? usual) + tokens.cacheWrite * (cacheWrite ?? usual);
  return (tokens.input * usual + tokens.output * said + read) / MILLION;
}

function pricesOf({ agent, model, time }: Omit<Use, "tokens">): (number | null)[] | null {
  if (model === null || model.length > MAX_NAME) return null;
  const name = model.trim().toLowerCase();
  const own = agent === null ? undefined : sellerNamed(SOLD_BY[agent]);
  const found = (own && modelOf(own, name)) ?? soldAs(name);
  return found ? pricesAt(found.periods, time === null ? new Date() : new Date(time)) : null;
}

/** Splits "anthropic/claude-opus-5-5" or "openrouter/anthropic/claude-opus-5-5"; the last seller counts. */
function soldAs(name: string) {
  const words = name.split("/");
  const bare = words.at(-1) ?? "";
  const prefix = words.at(-2);
  const sellers =
    prefix === undefined
      ? table.sellers.filter(({ names }) => names.some((pattern) => fits(pattern, bare)))
      : [sellerNamed(SPELLINGS[prefix] ?? prefix)];
  for (const seller of sellers) {
    const found = seller && modelOf(seller, bare);
    if (found) return found;
  }
  return undefined;
}

function sellerNamed(id: string | undefined): Seller | undefined {
  return id === undefined ? undefined : table.sellers.find((seller) => seller.id === id);
}

/** Accepts a date after the model's name, and the suffix that agents append, such as "[1m]". */
function modelOf({ models }: Seller, name: string) {
  const plain = name.replace(/\[[^[\]]*\]$/, "");
  const dated = plain.replace(/-\d{4}-?\d{2}-?\d{2}$/, "-DATE");
  for (const spelling of new Set([name, plain, dated])) {
    const found = models.find(({ names }) => names.some((pattern) => fits(pattern, spelling)));
    if (found) return found;
  }
  return undefined;
}

/** `*` matches anything, at the start and at the end of the pattern. */
function fits(pattern: string, name: string): boolean {
  const [open, close] = [pattern.startsWith("*"), pattern.endsWith("*")];
  const text = pattern.slice(open ? 1 : 0, close ? -1 : undefined);
  if (open && close) return name.includes(text);
  if (open) return name.endsWith(text);
  return close ? name.startsWith(text) : name === text;
}

function pricesAt(periods: readonly Period[], time: Date): (number | null)[] | null {
  if (Number.isNaN(time.getTime())) return null;
  const [day = "", clock = ""] = time.toISOString().split("T");
  const holds = ({ from, between }: Period) =>
    (from === undefined || day >= from) && (between === undefined || isBetween(clock, between));
  return periods.findLast(holds)?.prices ?? null;
}

function isBetween(clock: string, [start = "", end = ""]: readonly string[]): boolean {
  return end < start ? clock >= start || clock < end : clock >= start && clock < end;
}
