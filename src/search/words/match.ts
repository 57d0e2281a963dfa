/** Decides whether a word of a query matches a word of a text. The index only narrows down which texts to look at. */
import { CJK, classAt, WORD } from "./characters.ts";
import { fold, isIndexed, MAX_WORD, piecesOf, tokensOfWord, wholeOf, wordSpans } from "./split.ts";

/**
 * True if the text's word is the wanted word, has it as a piece (`refresh` in `tokenRefresh`), or has all of its
 * pieces in a row (`tokenRefresh` in `my_token_refresh`).
 */
export function matchesWord(wanted: string, word: string): boolean {
  const tokens = tokensOfWord(word);
  if (tokens.includes(wholeOf(wanted))) return true;
  const pieces = piecesOf(wanted);
  return pieces.length > 1 && pieces.some(isIndexed) && hasInRow(piecesOf(word), pieces);
}

/** True if a token of the word begins with the wanted prefix. */
export function matchesPrefix(prefix: string, word: string): boolean {
  const wanted = wholeOf(prefix);
  return tokensOfWord(word).some((token) => token.startsWith(wanted));
}

function hasInRow(pieces: readonly string[], wanted: readonly string[]): boolean {
  for (let at = 0; at + wanted.length <= pieces.length; at++)
    if (wanted.every((piece, index) => pieces[at + index] === piece)) return true;
  return false;
}

/** Ranges of the text that match a word or a prefix. In scripts without spaces, any occurrence of the letters matches. */
export function* wordMatches(
  text: string,
  wanted: string,
  isPrefix = false,
): Generator<{ start: number; end: number }> {
  const matches = isPrefix ? matchesPrefix : matchesWord;
  const isCjk = classAt(wanted, 0) === CJK;
  for (const { start, end } of isCjk ? wordSpans(text) : wordsWith(text, wanted, isPrefix)) {
    if (!isCjk) {
      if (matches(wanted, text.slice(start, Math.min(end, start + MAX_WORD + 1)))) yield { start, end };
    } else if (classAt(text, start) === CJK) {
      const at = fold(text.slice(start, end)).indexOf(fold(wanted));
      if (at >= 0) yield { start: start + at, end: Math.min(end, start + at + wanted.length) };
    }
  }
}

/** The words that can match. Searching for the first piece of the wanted word is faster than looking at every word. */
function* wordsWith(text: string, wanted: string, isPrefix: boolean): Generator<{ start: number; end: number }> {
  const folded = fold(text);
  const part = (isPrefix ? wholeOf(wanted) : piecesOf(wanted)[0]) || wholeOf(wanted);
  // Folding changed the length, so a position in one text is another in the other.
  if (folded.length !== text.length) {
    for (const span of wordSpans(text)) if (!span.cjk) yield span;
    return;
  }
  let end = 0;
  for (let at = folded.indexOf(part); at >= 0; at = folded.indexOf(part, Math.max(end, at + 1))) {
    if (classAt(text, at) !== WORD) continue;
    let start = at;
    while (start > 0 && classAt(text, start - 1) === WORD) start--;
    end = at;
    while (end < text.length && classAt(text, end) === WORD) end++;
    yield { start, end };
  }
}
