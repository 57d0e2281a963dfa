/**
 * Splits text into the tokens of the search index: each word as a whole, the pieces of identifiers (`tokenRefresh`,
 * `token_refresh`), and pairs of letters in scripts without spaces. Tokens are folded: lower case, without accents.
 */
import { CJK, classAt, SEPARATOR } from "./characters.ts";

/** Longer words, such as encoded data, are cut to this length and have no pieces. */
export const MAX_WORD = 64;
/** Shorter pieces of an identifier say nothing by themselves. */
const MIN_PIECE = 2;
const MAX_CACHED = 20_000;
const ASCII = /^\p{ASCII}*$/u;
const NOT_ASCII = /\P{ASCII}/gu;
const UPPER_ASCII = /[A-Z]+/g;
const ACCENTS = /[\u0300-\u036f]/g;
const FINAL_SIGMA = /ς/g;
/** Most words: they need no folding and have no pieces. */
const ONE_PIECE = /^(?:[a-z]+|[0-9]+)$/;
const SIGNS = /([_$]+)/;
/** Between `token` and `Refresh`, and between `HTML` and `Parser`. */
const CAMEL = {
  ascii: /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/,
  other: /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u,
};
const NUMBERED = { ascii: /^([^0-9]{2,})([0-9]+)$/, other: /^([^\p{N}]{2,})(\p{N}+)$/u };

const cachedTokens = new Map<string, readonly string[]>();

export interface Span {
  start: number;
  end: number;
  /** The letters belong to a script without spaces, so the span may hold several words. */
  cjk: boolean;
}

/** Most words are ASCII. For these, Unicode's properties, which are long lists, would take time and memory. */
function chosen<T>(either: { ascii: T; other: T }, text: string): T {
  return ASCII.test(text) ? either.ascii : either.other;
}

/** Folds text for comparison: lower case, without accents. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.toLowerCase().normalize("NFD").replace(ACCENTS, "").normalize("NFC").replace(FINAL_SIGMA, "σ");
}

/** Lower case, with every character at the same position, independent of its neighbors. */
export function lowerCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .replace(NOT_ASCII, (character) => {
      const lower = character.toLowerCase();
      return lower.length === character.length ? lower : character;
    })
    .replace(UPPER_ASCII, (character) => character.toLowerCase());
}

/** Yields the words of a text in order. */
export function* wordSpans(text: string): Generator<Span> {
  let at = 0;
  while (at < text.length) {
    const kind = classAt(text, at);
    const start = at++;
    if (kind === SEPARATOR) continue;
    while (at < text.length && classAt(text, at) === kind) at++;
    yield { start, end: at, cjk: kind === CJK };
  }
}

/** Returns the distinct tokens under which a text is indexed. */
export function tokensOf(text: string, into: Set<string> = new Set()): Set<string> {
  let at = 0;
  while (at < text.length) {
    const kind = classAt(text, at);
    const start = at++;
    if (kind === SEPARATOR) continue;
    while (at < text.length && classAt(text, at) === kind) at++;
    if (kind === CJK) for (const pair of pairsOf(text.slice(start, at))) into.add(pair);
    else for (const token of tokensOfWord(text.slice(start, Math.min(at, start + MAX_WORD + 1)))) into.add(token);
  }
  return into;
}

/** The word as a whole first, then its pieces. A word of more than `MAX_WORD` characters has no pieces. */
export function tokensOfWord(word: string): readonly string[] {
  if (word.length <= MAX_WORD && ONE_PIECE.test(word)) return [word];
  const known = cachedTokens.get(word);
  if (known) return known;
  if (cachedTokens.size >= MAX_CACHED) cachedTokens.clear();
  const whole = wholeOf(word);
  const tokens = new Set(whole === "" ? [] : [whole]);
  for (const piece of piecesOf(word)) {
    for (const part of [piece, ...(chosen(NUMBERED, piece).exec(piece)?.slice(1) ?? [])])
      if (isIndexed(part)) tokens.add(part);
  }
  const found = [...tokens];
  cachedTokens.set(word, found);
  return found;
}

/** The token of a whole word. */
export function wholeOf(word: string): string {
  return fold(word.slice(0, MAX_WORD));
}

/** The pieces of an identifier in order, folded: `parseHTTPHeader` has `parse`, `http` and `header`. */
export function piecesOf(word: string): string[] {
  return pieceSpans(word).map(({ start, end }) => fold(word.slice(start, end)));
}

export function pieceSpans(word: string): { start: number; end: number }[] {
  if (word.length > MAX_WORD) return [];
  const spans: { start: number; end: number }[] = [];
  let at = 0;
  for (const [index, part] of word.split(SIGNS).entries()) {
    // Every second part is what separates the others.
    if (index % 2 === 0 && part !== "") {
      let start = at;
      for (const piece of part.split(chosen(CAMEL, part))) {
        spans.push({ start, end: start + piece.length });
        start += piece.length;
      }
    }
    at += part.length;
  }
  return spans;
}

/** False for pieces that are too short to be indexed by themselves. */
export function isIndexed(piece: string): boolean {
  return piece.length >= MIN_PIECE;
}

/** Pairs of neighboring letters; the last letter is also a token, so that a single letter is found as a prefix. */
export function pairsOf(run: string): string[] {
  const letters = [...fold(run)];
  return letters.map((letter, index) => letter + (letters[index + 1] ?? ""));
}
