/**
 * Translates terms into an expression of tokens, which the index answers. Every text that matches a term matches its
 * expression; the reverse holds only where `isExact` says so, otherwise the text decides.
 */
import { fold, isIndexed, MAX_WORD, pairsOf, pieceSpans, piecesOf, wholeOf, wordSpans } from "../words/split.ts";
import type { Term } from "./parse.ts";

const CAPITALS = /(?<!\p{Lu})\p{Lu}{2,}$/u;

export type Expression =
  | { token: string; isPrefix: boolean }
  | { all: readonly Expression[] }
  | { any: readonly Expression[] }
  | { some: Expression; none: readonly Expression[] };

/** Null if the index can't exclude any text. */
export function expressionOf(terms: readonly Term[]): Expression | null {
  const wanted = terms.filter(({ excluded }) => !excluded).map(narrow);
  const found = allOf(wanted);
  if (found === null) return null;
  const not = terms.filter((term) => term.excluded && isExact(term)).flatMap((term) => narrow(term) ?? []);
  return not.length === 0 ? found : { some: found, none: not };
}

/** True if the term's expression finds exactly the texts that match. */
function isExact({ kind, text }: Term): boolean {
  if (kind === "literal" || kind === "phrase") return false;
  const [span] = wordSpans(text);
  if (span?.cjk) return kind === "word" && [...text].length <= 2;
  return kind === "prefix" || piecesOf(text).length <= 1;
}

/** True if the texts that `expressionOf` finds need not be read. Without a wanted term, it can't exclude any. */
export function areExact(terms: readonly Term[]): boolean {
  return terms.every(isExact) && (terms.length === 0 || terms.some(({ excluded }) => !excluded));
}

function narrow(term: Term): Expression | null {
  const { kind, text } = term;
  if (kind === "literal" || kind === "phrase") return narrowLiteral(text, kind);
  const [span] = wordSpans(text);
  if (!span) return null;
  if (span.cjk) return pairs(text);
  return kind === "prefix" ? prefix(wholeOf(text)) : narrowWord(text);
}

function narrowLiteral(text: string, kind: "literal" | "phrase"): Expression | null {
  const spans = [...wordSpans(text)];
  return allOf(
    spans.map(({ start, end, cjk }) => {
      const word = text.slice(start, end);
      if (cjk) return pairs(word);
      const isOpen = kind === "literal" && end === text.length;
      if (start === 0) return startOpen(word, isOpen);
      return isOpen && word.length <= MAX_WORD ? prefix(wholeOf(word)) : exact(wholeOf(word));
    }),
  );
}

/** A word as a whole, or all of its pieces inside of a longer one. */
function narrowWord(word: string): Expression {
  const whole = exact(wholeOf(word));
  const pieces = piecesOf(word);
  const inside = pieces.length > 1 ? allOf(pieces.filter(isIndexed).map(exact)) : null;
  return inside === null ? whole : { any: [whole, inside] };
}

/** A word that may be the end of a longer one, from a piece on; with `endOpen`, also its beginning or middle. */
function startOpen(word: string, endOpen: boolean): Expression | null {
  if (word.length > MAX_WORD) return exact(wholeOf(word));
  const whole = endOpen ? prefix(wholeOf(word)) : exact(wholeOf(word));
  const spans = pieceSpans(word);
  if (spans.length === 0) return whole;
  const inside = allOf(
    spans.map(({ start, end }, index) => {
      const piece = word.slice(start, end);
      const isOpen = endOpen && index === spans.length - 1;
      // In a longer word, `HTMLP` may be the beginning of `HTMLParser`, which has other pieces.
      if (!isIndexed(fold(piece)) || (isOpen && CAPITALS.test(piece))) return null;
      return isOpen ? prefix(fold(piece)) : exact(fold(piece));
    }),
  );
  return inside === null ? null : { any: [whole, inside] };
}

function pairs(run: string): Expression | null {
  const all = pairsOf(run);
  // The last letter alone is a token only where a run of letters ends.
  if (all.length > 1) return allOf(all.slice(0, -1).map(exact));
  return all[0] === undefined ? null : prefix(all[0]);
}

function allOf(expressions: readonly (Expression | null)[]): Expression | null {
  const found = expressions.filter((one) => one !== null);
  return found.length <= 1 ? (found[0] ?? null) : { all: found };
}

function exact(token: string): Expression {
  return { token, isPrefix: false };
}

function prefix(token: string): Expression {
  return { token, isPrefix: true };
}
