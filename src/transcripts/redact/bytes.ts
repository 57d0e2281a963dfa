/** Byte classes as lookup tables. */
export type ByteSet = Uint8Array;

export function byteSet(characters: string): ByteSet {
  const set = new Uint8Array(256);
  for (let i = 0; i < characters.length; i++) set[characters.charCodeAt(i)] = 1;
  return set;
}

export const DIGITS = "0123456789";
export const SMALL = "abcdefghijklmnopqrstuvwxyz";
export const CAPITALS = SMALL.toUpperCase();
export const ALPHANUMERIC = CAPITALS + SMALL + DIGITS;

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const NEWLINE = 0x0a;

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

export function isSmall(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}

export function isCapital(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a;
}

/** Letters, digits and the underscore, which form names. */
export function isWord(byte: number | undefined): boolean {
  return byte !== undefined && (isSmall(byte) || isCapital(byte) || isDigit(byte) || byte === 0x5f);
}

/** Whether a token may start at `at`: not right after a word, but possibly after an escaped `\n` or `\t`. */
export function beginsToken(bytes: Uint8Array, from: number, at: number, loose = false): boolean {
  if (at === from || !isWord(bytes[at - 1]) || (loose && bytes[at - 1] === 0x5f)) return true;
  const letter = bytes[at - 1];
  return at - 2 >= from && bytes[at - 2] === BACKSLASH && (letter === 0x6e || letter === 0x74 || letter === 0x72);
}
