/**
 * The words under which a text is found in the index: the same as in the search on one machine, so `parseConfig` is
 * found by "config". They are stored without PostgreSQL's own splitting, which cuts identifiers at other places.
 */
import { MAX_WORD, pairsOf, tokensOf, wholeOf, wordSpans } from "../../search/words/split.ts";

/** A `tsvector` is limited; a longer text is found by its first words. */
const MAX_TOKENS = 4_000;
const MAX_QUERY_WORDS = 16;

/** Needs no quotes in a `tsvector`. */
const PLAIN = /^[\w$]+$/;

/** The distinct words of a text, as PostgreSQL reads a `tsvector`. */
export function searchVector(text: string): string {
  let vector = "";
  let count = 0;
  for (const token of tokensOf(text)) {
    if (++count > MAX_TOKENS) break;
    vector += ` ${PLAIN.test(token) ? token : quoted(token)}`;
  }
  return vector;
}

/** A `tsquery` in which every word must occur; null if there is no word in the text. */
export function searchQuery(text: string): string | null {
  const words = new Set<string>();
  for (const { start, end, cjk } of wordSpans(text)) {
    const word = text.slice(start, cjk ? end : Math.min(end, start + MAX_WORD + 1));
    for (const token of cjk ? pairsOf(word) : [wholeOf(word)]) if (token !== "") words.add(token);
    if (words.size >= MAX_QUERY_WORDS) break;
  }
  return words.size === 0 ? null : [...words].map(quoted).join(" & ");
}

function quoted(word: string): string {
  return `'${word.replace(/['\\]/g, "$&$&")}'`;
}
