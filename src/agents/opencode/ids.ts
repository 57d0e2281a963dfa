/**
 * OpenCode's ids: a kind, twelve hexadecimal digits of time and fourteen letters or digits of chance. They are compared
 * as text, so the time orders messages as they came, and, turned around, sessions with the newest first.
 */
import { hexDigest } from "../../base/digest.ts";

const CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TAIL_LENGTH = 14;
const TIME_BITS = 0xffff_ffff_ffffn;

/** Follows from the time and the seed alone. */
export function sessionIdAt(time: Date, seed: string): string {
  const newestFirst = ~(BigInt(time.getTime()) * 0x1000n) & TIME_BITS;
  return `ses_${newestFirst.toString(16).padStart(12, "0")}${tailFrom(seed)}`;
}

/** Behind everything that came before that time; `kind` is `msg` or `prt`. */
export function idAt(kind: string, time: Date, seed: string): string {
  const place = (BigInt(time.getTime()) * 0x1000n) & TIME_BITS;
  return `${kind}_${place.toString(16).padStart(12, "0")}${tailFrom(`${kind}\0${seed}`)}`;
}

/** Another id at the same place in the order. */
export function renewed(id: string, seed: string): string {
  const place = /^[a-z]+_[0-9a-f]{12}/.exec(id)?.[0] ?? id.slice(0, 40);
  return `${place}${tailFrom(`${seed}\0${id}`)}`;
}

function tailFrom(seed: string): string {
  const bytes = Buffer.from(hexDigest("sha256", seed), "hex").subarray(0, TAIL_LENGTH);
  return Array.from(bytes, (byte) => CHARACTERS.charAt(byte % CHARACTERS.length)).join("");
}
