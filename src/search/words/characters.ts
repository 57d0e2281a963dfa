/** Classifies characters for splitting text into words: separators, word characters, and scripts without spaces. */

export const SEPARATOR = 1;
/** A letter, mark or digit of a script with spaces between words, `_` or `$`. */
export const WORD = 2;
/** A letter of Chinese, Japanese or Korean, which is found by pairs of letters. */
export const CJK = 3;

export type CharacterClass = typeof SEPARATOR | typeof WORD | typeof CJK;

const CJK_LETTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** The sound marks of Japanese belong to several scripts. */
const CJK_MARK = /[\u3005\u3007\u3099\u309a\u30fc\uff70]/u;
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_$]/u;
/** The same for ASCII, without Unicode's properties, which are long lists: most searches need none. */
const ASCII_WORD = /[A-Za-z0-9_$]/;

/** Classes by code unit, for loops over long texts: 0 where only `classAt` can tell. */
export const CLASSES = new Uint8Array(0x10000);
for (let code = 0; code < 0x80; code++) CLASSES[code] = ASCII_WORD.test(String.fromCharCode(code)) ? WORD : SEPARATOR;

/** The class of a character; of two code units if they form a pair. */
export function classAt(text: string, at: number): CharacterClass {
  const unit = text.charCodeAt(at);
  const found = CLASSES[unit];
  if (found !== 0) return found as CharacterClass;
  if (unit >= 0xd800 && unit <= 0xdfff) return classOfPair(text, at, unit);
  const computed = classOf(text[at] ?? "");
  CLASSES[unit] = computed;
  return computed;
}

/** Both halves of a pair have the class of the whole. Half a pair is a separator. */
function classOfPair(text: string, at: number, unit: number): CharacterClass {
  const start = unit >= 0xdc00 ? at - 1 : at;
  const code = text.codePointAt(start) ?? 0;
  return code > 0xffff ? classOf(String.fromCodePoint(code)) : SEPARATOR;
}

function classOf(character: string): CharacterClass {
  if (CJK_LETTER.test(character) || CJK_MARK.test(character)) return CJK;
  return WORD_CHARACTER.test(character) ? WORD : SEPARATOR;
}
