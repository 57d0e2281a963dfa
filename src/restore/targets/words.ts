/** Parses the words shared by all turn and state arguments: turn counts, `last`, `prev`, `last-green`. */

/** A number with more digits is never a turn count. */
const COUNT = /^@?([1-9]\d{0,4})$/;

/** Words that can't name a saved state. `HEAD` and `@` belong to git. */
export const KEYWORDS: readonly string[] = ["last", "prev", "last-green", "HEAD", "@"];

/** Parses `2` or `@2`, two turns back (the newest is 1); null for any other text. */
export function turnCount(text: string): number | null {
  const digits = COUNT.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** True if the text can only be a turn count: `@2`, unlike `2`, which may also begin an id. */
export function isMarkedCount(text: string): boolean {
  return text.startsWith("@") && turnCount(text) !== null;
}

/** True for `0` and `@0`, which are mistakes and not ids, because counts start at 1. */
export function isZero(text: string): boolean {
  return /^@?0$/.test(text);
}
