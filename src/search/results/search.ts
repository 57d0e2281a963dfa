/** Runs a query: finds documents, checks them, orders them, and describes each as a hit with its snippet and fate. */

import type { Conversation, Document } from "../index/documents.ts";
import type { Field } from "../index/schema.ts";
import type { SearchIndex } from "../index/store.ts";
import { matchesTerms, type Range } from "../query/match.ts";
import { areExact } from "../query/narrow.ts";
import type { Query } from "../query/parse.ts";
import { type Alive, aliveLines } from "./alive.ts";
import { Candidates } from "./candidates.ts";
import { conditionsOf } from "./conditions.ts";
import { type Fate, Fates } from "./fates.ts";
import { type Near, nearTo } from "./near.ts";
import { byRelevance } from "./relevance.ts";
import { lineSnippetOf, snippetOf } from "./snippets.ts";

export interface SearchHit {
  /** A target for `show`, `rewind`, `undo` and `fork`: the turn's step. The session's id if the turn was not recorded. */
  id: string;
  session: string;
  agent: string;
  /** The root of the work tree, or the directory in which the agent was started. */
  repository: string | null;
  turn: number;
  /** ISO time; null if the transcript has none. */
  time: string | null;
  field: Field;
  snippet: string;
  /** The matches in `snippet`. */
  matches: Range[];
  /** The changed file, for the fields `added` and `removed`. */
  path: string | null;
  /** Null if the turn was not recorded, so that its changes are not known. */
  fate: Fate | null;
  /** The session's title, if the agent gave it one. */
  title: string | null;
  /** The hit is in the conversation of a subagent. */
  subagent: boolean;
  /** With `alive`, for the field `added`: how many of the turn's lines in the file are still there. */
  alive?: Alive;
}

/** `document` is the hit's text in this index, for `turnTexts`. */
export type FoundHit = SearchHit & { document: number };

export interface FoundHits {
  hits: FoundHit[];
  /** The number of all matching texts. */
  total: number;
  /** Set if nothing was found. */
  near?: Near;
}

export interface RunOptions {
  limit: number;
  /** `auto` is by relevance if the words are rare in a large index, otherwise the newest first. */
  order: "newest" | "best" | "auto";
  /** Restricts the search to this repository. */
  root: string | null;
  alive: boolean;
  /** What became of turns, from an earlier search. */
  fates?: Fates | undefined;
}

/** The most relevant of this many candidates are shown. */
const RANKED = 100;
/** A word is rare if it matches less than this share of the documents, if there are at least this many. */
const RARE = 1 / 2_000;
const MANY = 20_000;

export async function runQuery(index: SearchIndex, query: Query, options: RunOptions): Promise<FoundHits> {
  const found = await matchingHits(index, query, options);
  return found.total > 0 ? found : { ...found, near: nearTo(index, query, options.root) };
}

async function matchingHits(index: SearchIndex, query: Query, options: RunOptions): Promise<FoundHits> {
  const { limit, root } = options;
  const { fates = new Fates() } = options;
  // A query without words lists turns.
  const isListing = query.terms.length === 0 && query.filters.fields.length === 0;
  const asked = isListing ? { ...query, filters: { ...query.filters, fields: ["prompt" as const] } } : query;
  const candidates = new Candidates(index, asked, root);
  const conditions = conditionsOf(index, asked.filters, fates);
  if (areExact(asked.terms) && conditions.length === 0) {
    const total = candidates.count();
    const isBest = options.order === "best" || (options.order === "auto" && areRare(index, total));
    const chosen = isBest
      ? byRelevance(index, candidates.likeliest(Math.max(RANKED, limit)), asked.terms).slice(0, limit)
      : candidates.newest(limit);
    return { hits: await describe(index, chosen, asked, fates, options), total };
  }
  const matching: Document[] = [];
  const conversations = new Map<number, Conversation | undefined>();
  for (const document of candidates.newest(null)) {
    if (!areExact(asked.terms) && !matchesTerms(index.textOf(document), asked.terms)) continue;
    if (conditions.length > 0) {
      const known = conversations.get(document.conversation) ?? index.conversation(document.conversation);
      conversations.set(document.conversation, known);
      if (!known || !(await holds(conditions, document, known))) continue;
    }
    matching.push(document);
  }
  const isBest = options.order === "best" || (options.order === "auto" && areRare(index, matching.length));
  const chosen = isBest ? byRelevance(index, matching.slice(0, RANKED), asked.terms) : matching;
  return { hits: await describe(index, chosen.slice(0, limit), asked, fates, options), total: matching.length };
}

async function holds(
  conditions: ReturnType<typeof conditionsOf>,
  document: Document,
  conversation: Conversation,
): Promise<boolean> {
  for (const condition of conditions) if (!(await condition(document, conversation))) return false;
  return true;
}

function areRare(index: SearchIndex, total: number): boolean {
  const all = index.segments.list().reduce((sum, { docs }) => sum + docs, 0);
  return all >= MANY && total < all * RARE;
}

async function describe(
  index: SearchIndex,
  documents: readonly Document[],
  { terms }: Query,
  fates: Fates,
  options: RunOptions,
): Promise<FoundHit[]> {
  const hits: FoundHit[] = [];
  for (const document of documents) {
    const conversation = index.conversation(document.conversation);
    if (!conversation) continue;
    const { agent, session, repository, title, part } = conversation;
    const records = await fates.of(conversation);
    const step = records?.stepOf(document, conversation);
    const whole = index.textOf(document);
    const { path, field } = document;
    const isChange = field === "added" || field === "removed";
    const { text, matches } = (isChange ? lineSnippetOf : snippetOf)(whole, terms);
    const isAdded = options.alive && field === "added" && repository !== null && path !== null;
    hits.push({
      id: step?.id ?? session,
      session,
      agent,
      repository,
      turn: step?.turn ?? document.turn,
      time: document.time > 0 ? new Date(document.time).toISOString() : null,
      field: document.field,
      snippet: text,
      matches,
      path: document.path,
      fate: records && step ? await records.fateOf(step) : null,
      title,
      document: document.id,
      subagent: part !== "" && document.step === null,
      ...(isAdded ? { alive: aliveLines(repository, path, whole) } : {}),
    });
  }
  return hits;
}
