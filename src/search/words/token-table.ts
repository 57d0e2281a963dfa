/**
 * Finds the tokens of many texts fast. Texts repeat words, so the table keeps the tokens of each word that it has seen,
 * and finds a word by its characters in place, without making a string of it.
 */
import { CJK, CLASSES, classAt, SEPARATOR } from "./characters.ts";
import { MAX_WORD, pairsOf, tokensOfWord } from "./split.ts";

const SLOTS = 1 << 17;
/** The table starts again when it holds so many words, so that its memory stays bounded. */
const MAX_WORDS = SLOTS / 2;

export class TokenTable {
  /** Indexes into the lists below, plus 1; 0 is free. */
  #slots = new Int32Array(SLOTS);
  #words: string[] = [];
  #hashes: number[] = [];
  #tokensOf: number[][] = [];
  #tokens: string[] = [];
  #numbers = new Map<string, number>();
  /** The last text in which each token was seen. */
  #lastText: number[] = [];
  #text = 0;

  /** The distinct tokens of a text, separated by spaces. */
  tokensOf(text: string): string {
    if (this.#words.length >= MAX_WORDS) this.#clear();
    this.#text++;
    const found: string[] = [];
    const { length } = text;
    let at = 0;
    while (at < length) {
      let unit = text.charCodeAt(at);
      const kind = CLASSES[unit] || classAt(text, at);
      if (kind === SEPARATOR) {
        at++;
        continue;
      }
      const start = at;
      const last = start + MAX_WORD;
      let hash = 0;
      do {
        if (at <= last) hash = (Math.imul(hash, 31) + unit) | 0;
        if (++at >= length) break;
        unit = text.charCodeAt(at);
      } while ((CLASSES[unit] || classAt(text, at)) === kind);
      if (kind === CJK) for (const pair of pairsOf(text.slice(start, at))) this.#add(this.#numberOf(pair), found);
      else for (const token of this.#find(text, start, Math.min(at, last + 1), hash)) this.#add(token, found);
    }
    return found.join(" ");
  }

  #add(token: number, found: string[]): void {
    if (this.#lastText[token] === this.#text) return;
    this.#lastText[token] = this.#text;
    found.push(this.#tokens[token] as string);
  }

  #find(text: string, start: number, end: number, hash: number): number[] {
    let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    for (let number = this.#slots[slot] as number; number !== 0; number = this.#slots[slot] as number) {
      if (this.#hashes[number - 1] === hash && isAt(text, start, end, this.#words[number - 1] as string)) {
        return this.#tokensOf[number - 1] as number[];
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
    const word = text.slice(start, end);
    const tokens = tokensOfWord(word).map((token) => this.#numberOf(token));
    this.#words.push(word);
    this.#hashes.push(hash);
    this.#tokensOf.push(tokens);
    this.#slots[slot] = this.#words.length;
    return tokens;
  }

  #numberOf(token: string): number {
    const known = this.#numbers.get(token);
    if (known !== undefined) return known;
    this.#numbers.set(token, this.#tokens.length);
    this.#lastText.push(0);
    return this.#tokens.push(token) - 1;
  }

  #clear(): void {
    this.#slots.fill(0);
    this.#words = [];
    this.#hashes = [];
    this.#tokensOf = [];
    this.#tokens = [];
    this.#numbers.clear();
    this.#lastText = [];
  }
}

function isAt(text: string, start: number, end: number, word: string): boolean {
  if (end - start !== word.length) return false;
  for (let at = 0; at < word.length; at++) if (text.charCodeAt(start + at) !== word.charCodeAt(at)) return false;
  return true;
}
