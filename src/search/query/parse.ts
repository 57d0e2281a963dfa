/** Parses a search query: words, prefixes, quoted text, exclusions and filters. Never rejects words: only filters. */
import { closest } from "../../base/text.ts";
import { parseTime } from "../../base/time/parse.ts";
import { FIELDS, type Field } from "../index/schema.ts";
import { SearchError } from "../problems.ts";
import { wordSpans } from "../words/split.ts";

/**
 * - `word`: a word or a piece of one;
 * - `prefix`: the beginning of a word or piece (`word*`);
 * - `phrase`: words with signs between them (`price.js`), from the start of a word or piece to the end of a word;
 * - `literal`: quoted text, which may end anywhere. Upper and lower case differ if the text has an upper-case letter.
 */
export interface Term {
  kind: "word" | "prefix" | "phrase" | "literal";
  text: string;
  excluded: boolean;
}

export const STATES = ["undone", "kept", "committed", "green", "red", "fork", "subagent", "run"] as const;
type State = (typeof STATES)[number];

export interface Filters {
  agents: string[];
  repositories: string[];
  sessions: string[];
  branches: string[];
  commits: string[];
  files: string[];
  models: string[];
  tags: string[];
  fields: Field[];
  states: State[];
  since: Date | null;
  before: Date | null;
  /** Bounds of a turn's cost in US dollars. */
  cost: { over: number | null; under: number | null };
}

export interface Query {
  terms: Term[];
  filters: Filters;
}

const LISTS = {
  agent: "agents",
  repo: "repositories",
  session: "sessions",
  branch: "branches",
  commit: "commits",
  file: "files",
  model: "models",
  tag: "tags",
} as const;

export const FILTER_NAMES = [
  ...(Object.keys(LISTS) as (keyof typeof LISTS)[]),
  ...(["field", "is", "since", "before", "cost"] as const),
];

/** A quoted text, a filter with a quoted value, or anything up to the next space. */
const WORDS = /-?(?:[a-z]+:)?"(?:[^"\\]|\\.)*(?:"|$)|\S+/giu;
const FILTER = /^([a-z]+):(.+)$/isu;
const WORD_CHARACTERS = /^[\p{L}\p{M}\p{N}_$]+$/u;
const HAS_WORD = /[\p{L}\p{M}\p{N}_$]/u;
const ASCII_WORD = /^[A-Za-z0-9_$]+$/;

export function noFilters(): Filters {
  return {
    ...{ agents: [], repositories: [], sessions: [], branches: [], commits: [], files: [], models: [], tags: [] },
    ...{ fields: [], states: [], since: null, before: null, cost: { over: null, under: null } },
  };
}

export function hasFilters(filters: Filters): boolean {
  return JSON.stringify(filters) !== JSON.stringify(noFilters());
}

export function parseQuery(text: string, now: Date): Query {
  const query: Query = { terms: [], filters: noFilters() };
  for (const [word] of text.matchAll(WORDS)) addWord(query, word, now);
  return query;
}

/** Adds quoted text, such as the argument of `--added`. */
export function literal(text: string): Term {
  return { kind: "literal", text, excluded: false };
}

function addWord(query: Query, word: string, now: Date): void {
  const [, name, value] = FILTER.exec(word) ?? [];
  // Anything else with a colon, such as std::vector or a URL, is text.
  if (name !== undefined && value !== undefined && isFilter(name)) {
    addFilter(query.filters, name.toLowerCase(), unquoted(value), now);
    return;
  }
  const excluded = word.length > 1 && word.startsWith("-") && !/^--+$/.test(word) && isTerm(word.slice(1));
  const term = termOf(excluded ? word.slice(1) : word, excluded);
  if (term) query.terms.push(term);
}

function isFilter(name: string): boolean {
  return (FILTER_NAMES as readonly string[]).includes(name.toLowerCase());
}

/** `-x` and `-"x y"` exclude; `->` and `--flag` are text. */
function isTerm(word: string): boolean {
  return word.startsWith('"') || isWord(word.slice(0, 1));
}

function termOf(word: string, excluded: boolean): Term | undefined {
  if (word.startsWith('"')) {
    const text = unquoted(word);
    return text === "" ? undefined : { kind: "literal", text, excluded };
  }
  const isPrefix = word.length > 1 && word.endsWith("*") && HAS_WORD.test(word);
  const text = isPrefix ? word.slice(0, -1) : word;
  if (isWord(text) && isOneRun(text)) return { kind: isPrefix ? "prefix" : "word", text, excluded };
  // `price.j*` may end anywhere, as quoted text does.
  return { kind: isPrefix ? "literal" : "phrase", text, excluded };
}

/** Most words are ASCII, and need none of Unicode's properties, which are long lists. */
function isWord(text: string): boolean {
  return ASCII_WORD.test(text) || WORD_CHARACTERS.test(text);
}

/** False if the text mixes scripts with and without spaces between words. */
function isOneRun(text: string): boolean {
  return [...wordSpans(text)].length === 1;
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  const end = text.length > 1 && text.endsWith('"') && !/(?<!\\)(?:\\\\)*\\"$/.test(text) ? -1 : undefined;
  return text.slice(1, end).replace(/\\(["\\])/g, "$1");
}

function addFilter(filters: Filters, name: string, value: string, now: Date): void {
  if (Object.hasOwn(LISTS, name)) filters[LISTS[name as keyof typeof LISTS]].push(value);
  else if (name === "field") filters.fields.push(...value.split(",").map((one) => oneOf("field", one, FIELDS)));
  else if (name === "is") filters.states.push(...value.split(",").map((one) => oneOf("is", one, STATES)));
  else if (name === "since") filters.since = parseTime(value, now, "first");
  else if (name === "before") filters.before = parseTime(value, now, "first");
  else addCost(filters, value);
}

function addCost({ cost }: Filters, value: string): void {
  const [, sign, amount] = /^([<>])\$?(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  if (amount === undefined) throw new SearchError("usage", { kind: "cost-filter-invalid", value });
  cost[sign === ">" ? "over" : "under"] = Number(amount);
}

function oneOf<T extends string>(name: string, value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value.toLowerCase());
  if (found) return found;
  const near = closest(value.toLowerCase(), choices);
  throw new SearchError("usage", { kind: "filter-value-unknown", filter: name, value, near, choices });
}
