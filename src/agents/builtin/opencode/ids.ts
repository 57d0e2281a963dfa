/**
 * OpenCode's ids: a kind, twelve hexadecimal digits of time, and fourteen random letters or digits. OpenCode compares
 * them as text, so the time sorts messages oldest first. Session ids invert the time to sort newest first.
 */
import { hexDigest } from "../../../base/digest.ts";

const CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TAIL_LENGTH = 14;
const TIME_BITS = 0xffff_ffff_ffffn;

/** Depends only on the time and the seed. */
export function sessionIdAt(time: Date, seed: string): string {
  const newestFirst = ~(BigInt(time.getTime()) * 0x1000n) & TIME_BITS;
  return `ses_${newestFirst.toString(16).padStart(12, "0")}${tailFrom(seed)}`;
}

/** An id that sorts after everything before that time; `kind` is `msg` or `prt`. */
export function idAt(kind: string, time: Date, seed: string): string {
  const place = (BigInt(time.getTime()) * 0x1000n) & TIME_BITS;
  return `${kind}_${place.toString(16).padStart(12, "0")}${tailFrom(`${kind}\0${seed}`)}`;
}

/** A new id at the same position in the sort order. */
export function renewed(id: string, seed: string): string {
  const place = /^[a-z]+_[0-9a-f]{12}/.exec(id)?.[0] ?? id.slice(0, 40);
  return `${place}${tailFrom(`${seed}\0${id}`)}`;
}

function tailFrom(seed: string): string {
  const bytes = Buffer.from(hexDigest("sha256", seed), "hex").subarray(0, TAIL_LENGTH);
  return Array.from(bytes, (byte) => CHARACTERS.charAt(byte % CHARACTERS.length)).join("");
}
