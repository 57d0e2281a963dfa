/**
 * The words under which a text is found in the index: the same as in the search on one machine, so `parseConfig` is
 * found by "config". They are stored without PostgreSQL's own splitting, which cuts identifiers at other places.
 */
import { MAX_WORD, pairsOf, tokensOf, tokensOfWord, wholeOf, wordSpans } from "../../search/words/split.ts";

/** A `tsvector` is limited; a longer text is found by its first words. */
const MAX_TOKENS = 4_000;
const MAX_QUERY_WORDS = 16;
/** Shorter beginnings are of too many words. */
const MIN_BEGINNING = 2;
const MAX_CACHED = 100_000;

/** Needs no quotes in a `tsvector`. */
const PLAIN = /^[\w$]+$/;
const ASCII = /^\p{ASCII}*$/u;
const ASCII_WORDS = /[\w$]+/g;

/** The quoted tokens of words that were seen before: most words of a text are. */
const vectors = new Map<string, { text: string; count: number }>();

/** The words of a text, as PostgreSQL reads a `tsvector`. */
export function searchVector(text: string): string {
  if (!ASCII.test(text)) return [...tokensOf(text)].slice(0, MAX_TOKENS).map(written).join(" ");
  const parts: string[] = [];
  let count = 0;
  for (const word of new Set(text.match(ASCII_WORDS))) {
    const vector = vectors.get(word) ?? vectorOf(word);
    count += vector.count;
    if (count > MAX_TOKENS) break;
    parts.push(vector.text);
  }
  return parts.join(" ");
}

function vectorOf(word: string): { text: string; count: number } {
  const tokens = tokensOfWord(word.slice(0, MAX_WORD + 1));
  const vector = { text: tokens.map(written).join(" "), count: tokens.length };
  if (vectors.size >= MAX_CACHED) vectors.clear();
  vectors.set(word, vector);
  return vector;
}

/** A `tsquery` in which every word must occur, or with a star, a word that begins so; null if there is no word in the text. */
export function searchQuery(text: string): string | null {
  const words = new Set<string>();
  for (const { start, end, cjk } of wordSpans(text)) {
    const word = text.slice(start, cjk ? end : Math.min(end, start + MAX_WORD + 1));
    const begins = text[end] === "*" && end - start >= MIN_BEGINNING && end - start <= MAX_WORD;
    for (const token of cjk ? pairsOf(word) : [wholeOf(word)])
      if (token !== "") words.add(quoted(token) + (begins ? ":*" : ""));
    if (words.size >= MAX_QUERY_WORDS) break;
  }
  return words.size === 0 ? null : [...words].join(" & ");
}

function written(token: string): string {
  return PLAIN.test(token) ? token : quoted(token);
}

function quoted(word: string): string {
  return `'${word.replace(/['\\]/g, "$&$&")}'`;
}
