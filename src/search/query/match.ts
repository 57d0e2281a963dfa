/**
 * Finds a query's terms in a text. This decides what a query means: the index only finds the texts that may match
 * (narrow.ts), so that a search gives the same result as reading every text.
 */
import { CJK, classAt, SEPARATOR } from "../words/characters.ts";
import { wordMatches } from "../words/match.ts";
import { lowerCase, MAX_WORD, pieceSpans } from "../words/split.ts";
import type { Term } from "./parse.ts";

export interface Range {
  start: number;
  end: number;
}

const UPPER = /\p{Lu}/u;
const MARK = /^\p{M}/u;

export function matchesTerms(text: string, terms: readonly Term[]): boolean {
  return terms.every((term) => hasTerm(text, term) !== term.excluded);
}

export function hasTerm(text: string, term: Term): boolean {
  return !rangesOf(text, term).next().done;
}

/** Where a text matches a term. */
export function rangesOf(text: string, { kind, text: wanted }: Term): Generator<Range> {
  if (kind === "literal" || kind === "phrase") return literalRanges(text, wanted, kind);
  return wordMatches(text, wanted, kind === "prefix");
}

function* literalRanges(text: string, wanted: string, kind: "literal" | "phrase"): Generator<Range> {
  const isExact = kind === "literal" && UPPER.test(wanted);
  const [place, needle] = isExact ? [text, wanted] : [lowerCase(text), lowerCase(wanted)];
  for (let start = place.indexOf(needle); start >= 0; start = place.indexOf(needle, start + 1)) {
    const end = start + needle.length;
    if (startsPiece(text, start) && (kind === "literal" ? !continues(text, end) : endsWord(text, end))) {
      yield { start, end };
    }
  }
}

/** True at the start of a word or of a piece of one, and anywhere else than in a word. */
function startsPiece(text: string, at: number): boolean {
  const kind = classAt(text, at);
  if (kind === SEPARATOR || kind === CJK || at === 0 || classAt(text, at - 1) !== kind) return true;
  let start = at;
  while (start > 0 && at - start <= MAX_WORD && classAt(text, start - 1) === kind) start--;
  let end = at;
  while (end < text.length && end - start <= MAX_WORD && classAt(text, end) === kind) end++;
  return pieceSpans(text.slice(start, end)).some((piece) => start + piece.start === at);
}

function endsWord(text: string, end: number): boolean {
  const kind = classAt(text, end - 1);
  return kind === SEPARATOR || kind === CJK || end >= text.length || classAt(text, end) !== kind;
}

/** True if an accent follows the last character. */
function continues(text: string, end: number): boolean {
  return end < text.length && text.charCodeAt(end) > 0x7f && MARK.test(text.slice(end, end + 2));
}
