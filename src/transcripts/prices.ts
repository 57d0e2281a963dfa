/**
 * What tokens cost where the agent itself doesn't say: by the list prices of the model's seller, and so an estimate. A model
 * without a price has none; nothing is ever taken for free. `prices.json` is generated, and says from what and of when.
 */
import type { Tokens } from "./model.ts";
import table from "./prices.json";

/** US dollars: as the agent told them, or estimated. */
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
}

type Seller = (typeof table.sellers)[number];

interface Period {
  from?: string;
  between?: string[];
  prices: (number | null)[];
}

/** Agents that sell what they use, at prices of their own; what these don't name is looked up like anyone's. */
const SOLD_BY: Readonly<Record<string, string>> = { "copilot-cli": "github-copilot", cursor: "cursor" };
/** How others spell a seller in front of a model. */
const SPELLINGS: Readonly<Record<string, string>> = { xai: "x-ai", moonshot: "moonshotai", "z-ai": "zai" };
const LONGEST_NAME = 200;
const MILLION = 1e6;
/** Parts of a dollar that count; what is beyond them is the arithmetic's. */
const PARTS = 1e9;

/** The day whose prices these are. */
export const PRICES_OF = table.date;

/** Of all of these; null as soon as one of them has no price. */
export function estimatedCost(uses: Iterable<Use>): Cost | null {
  let usd = 0;
  for (const use of uses) {
    if (isNone(use.tokens)) continue;
    const prices = pricesOf(use);
    if (prices === null) return null;
    usd += priceOf(use.tokens, prices);
  }
  return costOf(usd, true);
}

export function hasPrice(agent: string, model: string): boolean {
  return pricesOf({ agent, model, time: null }) !== null;
}

/** What stands for no tokens at all adds nothing; what nobody knows the cost of makes the sum unknown. */
export function sumOfCosts(parts: Iterable<{ tokens: Tokens | null; cost: Cost | null }>): Cost | null {
  const sum: Cost = { usd: 0, estimated: false };
  let told = false;
  for (const { tokens, cost } of parts) {
    if (cost) {
      sum.usd += cost.usd;
      sum.estimated ||= cost.estimated;
      told = true;
    } else if (tokens && !isNone(tokens)) return null;
  }
  return told ? costOf(sum.usd, sum.estimated) : null;
}

function isNone({ input, output, cacheRead, cacheWrite }: Tokens): boolean {
  return input + output + cacheRead + cacheWrite === 0;
}

/** Counts come from agents, and may be anything. */
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
  if (model === null || model.length > LONGEST_NAME) return null;
  const name = model.trim().toLowerCase();
  const own = agent === null ? undefined : sellerNamed(SOLD_BY[agent]);
  const found = (own && modelOf(own, name)) ?? soldAs(name);
  return found ? pricesAt(found.periods, time === null ? new Date() : new Date(time)) : null;
}

/** "claude-opus-5-5", "anthropic/claude-opus-5-5", "openrouter/anthropic/claude-opus-5-5": the last seller counts. */
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

/** With the date that makers put behind a name, and with what agents put behind that ("[1m]"). */
function modelOf({ models }: Seller, name: string) {
  const plain = name.replace(/\[[^[\]]*\]$/, "");
  const dated = plain.replace(/-\d{4}-?\d{2}-?\d{2}$/, "-DATE");
  for (const spelling of new Set([name, plain, dated])) {
    const found = models.find(({ names }) => names.some((pattern) => fits(pattern, spelling)));
    if (found) return found;
  }
  return undefined;
}

/** `*` stands for anything, at the beginning and at the end. */
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
