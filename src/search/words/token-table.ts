/**
 * Finds the tokens of many texts fast. Texts repeat words, so the table keeps the tokens of each word that it has seen,
 * and numbers them, without making strings. split.ts defines what the tokens are.
 */
import { ByteStrings, END, longer, RECORD, START } from "./byte-strings.ts";
import { CLASSES, WORD } from "./characters.ts";
import { MAX_WORD, tokensOf } from "./split.ts";

const DOLLAR = 0x24;
const UNDERSCORE = 0x5f;
const FIRST_FOUND = 1 << 12;
const FIRST_LISTS = 1 << 14;

/**
 * Fields of a string's record in the table, as offsets: the last text in which it was a word, the last one in which it
 * was a token, and its tokens as a word (1 + a place in `#lists`; -1 if it is its own only token; 0 if not known yet).
 */
const WORD_IN = 3;
const TOKEN_IN = 4;
const TOKENS = 5;
const ITSELF = -1;

const OTHER = 0;
const DIGIT = 1;
const LOWER = 2;
const UPPER = 3;
/** Bytes that are part of a word, or perhaps of one: ASCII word characters and all that is not ASCII. */
const IN_WORD = new Uint8Array(256).fill(1, 0x80);
for (let byte = 0; byte < 0x80; byte++) if (CLASSES[byte] === WORD) IN_WORD[byte] = 1;
const KINDS = new Uint8Array(0x80).fill(DIGIT, 0x30, 0x3a).fill(UPPER, 0x41, 0x5b).fill(LOWER, 0x61, 0x7b);

export class TokenTable {
  /** Words and tokens: most words are their own only token. */
  readonly #strings = new ByteStrings();
  /** The tokens of words that have several, or another: for each word their number, then the tokens. */
  #lists = new Int32Array(FIRST_LISTS);
  #listsLength = 0;
  #text = 0;
  /** The tokens of the current text, as positions of records. */
  #found = new Int32Array(FIRST_FOUND);
  #length = 0;
  /** The current word in lower case. */
  readonly #lower = new Uint8Array(MAX_WORD + 1);

  /** True if the table should be cleared before the next text. */
  get isFull(): boolean {
    return this.#strings.isFull;
  }

  /** One more than the greatest number of a token. */
  get size(): number {
    return this.#strings.count;
  }

  /** Numbers of tokens have no meaning afterwards. */
  clear(): void {
    this.#strings.clear();
    this.#listsLength = 0;
  }

  /** The bytes of all tokens, in UTF-8. `startOf` and `endOf` say where each token is. Valid until the next text. */
  get bytes(): Uint8Array {
    return this.#strings.bytes;
  }

  startOf(number: number): number {
    return this.#strings.records[number * RECORD + START] as number;
  }

  endOf(number: number): number {
    return this.#strings.records[number * RECORD + END] as number;
  }

  /** The numbers of the distinct tokens of a text in UTF-8. Valid until the next call. */
  tokensOf(text: Uint8Array): Int32Array {
    this.#text++;
    this.#length = 0;
    const { length } = text;
    let at = 0;
    while (at < length) {
      if (IN_WORD[text[at] as number] === 0) {
        at++;
        continue;
      }
      const start = at;
      let hash = 0;
      let all = 0;
      do {
        const byte = text[at++] as number;
        all |= byte;
        hash = (Math.imul(hash, 31) + byte) | 0;
      } while (at < length && IN_WORD[text[at] as number] === 1);
      if (at - start <= MAX_WORD) this.#addRun(text, start, at, hash, all >= 0x80);
      else if (all >= 0x80) for (const token of foreignTokens(text, start, at)) this.#add(this.#tokenOf(token));
      else this.#addLong(text, start);
    }
    return this.#found.subarray(0, this.#length);
  }

  /** A word, or a run of words that are not ASCII alone. */
  #addRun(text: Uint8Array, start: number, end: number, hash: number, isForeign: boolean): void {
    const strings = this.#strings;
    const word = strings.find(text, start, end, hash);
    if (strings.records[word + WORD_IN] === this.#text) return;
    strings.records[word + WORD_IN] = this.#text;
    const tokens = strings.records[word + TOKENS] || this.#learn(word, text, start, end, isForeign);
    if (tokens === ITSELF) {
      this.#add(word);
      return;
    }
    const last = tokens + (this.#lists[tokens - 1] as number);
    for (let at = tokens; at < last; at++) this.#add(this.#lists[at] as number);
  }

  /** A long word is cut, and has no pieces. */
  #addLong(text: Uint8Array, start: number): void {
    this.#lowerCase(text, start, start + MAX_WORD);
    this.#add(this.#token(this.#lower, 0, MAX_WORD));
  }

  #learn(word: number, text: Uint8Array, start: number, end: number, isForeign: boolean): number {
    const found = isForeign
      ? [...foreignTokens(text, start, end)].map((token) => this.#tokenOf(token))
      : this.#tokensOfWord(text, start, end);
    const tokens = found.length === 1 && found[0] === word ? ITSELF : this.#addList(found);
    this.#strings.records[word + TOKENS] = tokens;
    return tokens;
  }

  /** Returns 1 + the list's place. */
  #addList(tokens: readonly number[]): number {
    const start = this.#listsLength;
    this.#listsLength = start + 1 + tokens.length;
    if (this.#listsLength > this.#lists.length) this.#lists = longer(this.#lists, this.#listsLength);
    this.#lists[start] = tokens.length;
    this.#lists.set(tokens, start + 1);
    return start + 1;
  }

  /** The tokens of an ASCII word, as `tokensOfWord` finds them. */
  #tokensOfWord(text: Uint8Array, start: number, end: number): number[] {
    this.#lowerCase(text, start, end);
    const lower = this.#lower;
    const length = end - start;
    const found = [this.#token(lower, 0, length)];
    const addPart = (from: number, to: number) => {
      // Shorter pieces say nothing by themselves.
      if (to - from < 2 || to - from === length) return;
      const token = this.#token(lower, from, to);
      if (!found.includes(token)) found.push(token);
    };
    for (let from = 0; from < length; ) {
      const to = endOfPiece(text, start + from, end) - start;
      addPart(from, to);
      // The letters and the number of `http2`.
      const digits = firstDigit(lower, from, to);
      if (digits - from >= 2 && digits < to && areDigits(lower, digits, to)) {
        addPart(from, digits);
        addPart(digits, to);
      }
      from = to;
      while (from < length && isSign(lower[from] as number)) from++;
    }
    return found;
  }

  #lowerCase(text: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const byte = text[at] as number;
      this.#lower[at - start] = KINDS[byte] === UPPER ? byte + 32 : byte;
    }
  }

  #tokenOf(token: string): number {
    const bytes = Buffer.from(token);
    return this.#token(bytes, 0, bytes.length);
  }

  #token(source: Uint8Array, start: number, end: number): number {
    let hash = 0;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (source[at] as number)) | 0;
    return this.#strings.find(source, start, end, hash);
  }

  #add(token: number): void {
    const { records } = this.#strings;
    if (records[token + TOKEN_IN] === this.#text) return;
    records[token + TOKEN_IN] = this.#text;
    if (this.#length === this.#found.length) this.#found = longer(this.#found, 0);
    this.#found[this.#length++] = token / RECORD;
  }
}

function foreignTokens(text: Uint8Array, start: number, end: number): Set<string> {
  return tokensOf(Buffer.from(text.buffer, text.byteOffset + start, end - start).toString("utf8"));
}

/** `token` in `tokenRefresh`, `HTML` in `HTMLParser`: pieces end at `_` and `$`, and before a capital. */
function endOfPiece(text: Uint8Array, start: number, end: number): number {
  let before = KINDS[text[start] as number] as number;
  if (before === OTHER) return start;
  for (let at = start + 1; at < end; at++) {
    const kind = KINDS[text[at] as number] as number;
    if (kind === OTHER) return at;
    if (kind === UPPER && before !== UPPER) return at;
    if (kind === UPPER && at + 1 < end && KINDS[text[at + 1] as number] === LOWER) return at;
    before = kind;
  }
  return end;
}

function firstDigit(text: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && KINDS[text[at] as number] !== DIGIT) at++;
  return at;
}

function areDigits(text: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (KINDS[text[at] as number] !== DIGIT) return false;
  return true;
}

function isSign(byte: number): boolean {
  return byte === UNDERSCORE || byte === DOLLAR;
}
