/** Suggestions for a query without hits: similar words, and hits that only a filter excludes. */
import { closest } from "../../base/text.ts";
import { tokensLike } from "../index/matching.ts";
import type { SearchIndex } from "../index/store.ts";
import { hasFilters, noFilters, type Query, type Term } from "../query/parse.ts";
import { fold } from "../words/split.ts";
import { Candidates } from "./candidates.ts";

export interface Near {
  /** Words of the query that occur nowhere, each with the most similar word that does. */
  words: { word: string; like: string | null }[];
  /** How many texts match the words without the filters; 0 if there are none. */
  withoutFilters: number;
}

/** Similar words begin with the same letters. */
const SAME_LETTERS = 2;
const MAX_WORDS = 2_000;

/** `root` restricted the search to a repository. */
export function nearTo(index: SearchIndex, { terms, filters }: Query, root: string | null): Near {
  const isFiltered = root !== null || hasFilters(filters);
  const words = terms.filter((term) => !term.excluded && term.kind === "word" && count(index, [term]) === 0);
  return {
    words: words.map(({ text }) => ({ word: text, like: closest(fold(text), wordsLike(index, fold(text))) ?? null })),
    withoutFilters: isFiltered && terms.length > 0 ? count(index, terms) : 0,
  };
}

/** An upper bound, since texts are not read. */
function count(index: SearchIndex, terms: readonly Term[]): number {
  return new Candidates(index, { terms: [...terms], filters: noFilters() }, null).count();
}

function wordsLike(index: SearchIndex, word: string): string[] {
  const start = word.slice(0, SAME_LETTERS);
  const found = new Set(index.segments.list().flatMap((one) => tokensLike(index.database, one, start, MAX_WORDS)));
  found.delete(word);
  return [...found];
}
