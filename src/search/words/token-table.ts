/**
 * Finds the tokens of many texts fast. Texts repeat words, so the table keeps the tokens of each word that it has seen,
 * and finds a word by its characters in place, without making a string of it.
 */
import { CJK, CLASSES, classAt, SEPARATOR } from "./characters.ts";
import { MAX_WORD, pairsOf, tokensOfWord } from "./split.ts";

const SLOTS = 1 << 18;
/** The table starts again when it holds so many words or characters, so that its memory stays bounded. */
const MAX_WORDS = SLOTS / 2;
const MAX_UNITS = MAX_WORDS * 12;
const FIRST_SCRATCH = 1 << 15;

export class TokenTable {
  /** Numbers of words, plus 1; 0 is free. */
  readonly #slots = new Int32Array(SLOTS);
  /** Of each word: its hash, its place in `#units`, and the number of its first token. */
  readonly #hashes = new Int32Array(MAX_WORDS);
  readonly #starts = new Int32Array(MAX_WORDS + 1);
  readonly #firstToken = new Int32Array(MAX_WORDS);
  /** The other tokens of words that have several. */
  readonly #otherTokens: (number[] | undefined)[] = [];
  /** The characters of all words. A string of a word would keep the whole text in memory that it was cut from. */
  readonly #units = new Uint16Array(MAX_UNITS + MAX_WORD + 1);
  #words = 0;
  #tokens: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** The last text in which each token was seen. */
  #lastText = new Int32Array(MAX_WORDS);
  #text = 0;
  /** The characters of the text at hand: reading them from an array is faster than from a string. */
  #scratch = new Uint16Array(FIRST_SCRATCH);

  /** The distinct tokens of a text, separated by spaces. */
  tokensOf(text: string): string {
    this.#text++;
    const found: string[] = [];
    const { length } = text;
    const units = this.#unitsOf(text);
    let at = 0;
    while (at < length) {
      let unit = units[at] as number;
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
        unit = units[at] as number;
      } while ((CLASSES[unit] || classAt(text, at)) === kind);
      if (kind === CJK) for (const pair of pairsOf(text.slice(start, at))) this.#add(this.#numberOf(pair), found);
      else this.#addWord(units, start, Math.min(at, last + 1), hash, found);
    }
    return found.join(" ");
  }

  #unitsOf(text: string): Uint16Array {
    if (text.length > this.#scratch.length) this.#scratch = new Uint16Array(text.length * 2);
    Buffer.from(this.#scratch.buffer).write(text, "utf16le");
    return this.#scratch;
  }

  #add(token: number, found: string[]): void {
    if (this.#lastText[token] === this.#text) return;
    this.#lastText[token] = this.#text;
    found.push(this.#tokens[token] as string);
  }

  #addWord(text: Uint16Array, start: number, end: number, hash: number, found: string[]): void {
    const word = this.#find(text, start, end, hash);
    const first = this.#firstToken[word] as number;
    if (first < 0) return;
    this.#add(first, found);
    const others = this.#otherTokens[word];
    if (others !== undefined) for (const token of others) this.#add(token, found);
  }

  #find(text: Uint16Array, start: number, end: number, hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    for (let number = this.#slots[slot] as number; number !== 0; number = this.#slots[slot] as number) {
      if (this.#hashes[number - 1] === hash && this.#isAt(text, start, end, number - 1)) return number - 1;
      slot = (slot + 1) & (SLOTS - 1);
    }
    const units = this.#starts[this.#words] as number;
    if (this.#words >= MAX_WORDS || units >= MAX_UNITS) {
      this.#clear();
      return this.#find(text, start, end, hash);
    }
    for (let at = start; at < end; at++) this.#units[units + at - start] = text[at] as number;
    const word = this.#words++;
    this.#starts[this.#words] = units + end - start;
    this.#hashes[word] = hash;
    this.#slots[slot] = word + 1;
    const copy = String.fromCharCode(...this.#units.subarray(units, units + end - start));
    const [first = -1, ...others] = tokensOfWord(copy).map((token) => this.#numberOf(token));
    this.#firstToken[word] = first;
    if (others.length > 0) this.#otherTokens[word] = others;
    return word;
  }

  #isAt(text: Uint16Array, start: number, end: number, word: number): boolean {
    const from = this.#starts[word] as number;
    if (end - start !== (this.#starts[word + 1] as number) - from) return false;
    for (let at = start; at < end; at++) if (text[at] !== this.#units[from + at - start]) return false;
    return true;
  }

  #numberOf(token: string): number {
    const known = this.#numbers.get(token);
    if (known !== undefined) return known;
    const number = this.#tokens.push(token) - 1;
    this.#numbers.set(token, number);
    if (number >= this.#lastText.length) {
      const longer = new Int32Array(number * 2);
      longer.set(this.#lastText);
      this.#lastText = longer;
    }
    return number;
  }

  /** In the middle of a text, a token may then be found twice, which the index does not mind. */
  #clear(): void {
    this.#slots.fill(0);
    this.#words = 0;
    this.#otherTokens.length = 0;
    this.#tokens = [];
    this.#numbers.clear();
    this.#lastText.fill(0);
  }
}
