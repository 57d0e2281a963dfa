/**
 * Finds secrets in file names. A name has no context and is seldom random, so less evidence than in a text makes it
 * suspicious. Only names that leave the machine change, and only the part that looks secret.
 */

import { ALPHANUMERIC, byteSet } from "./bytes.ts";
import { type Candidate, WEIGHT } from "./candidate.ts";
import type { Span } from "./find/blocks.ts";
import { entropyOf, isStandIn, isWordy, makeOf } from "./find/value.ts";
import type { Scanner } from "./scan.ts";

/** A part of a name that is only random, or looks like a password. */
export const NAME_RULE = "file-name";

const MIN_TOKEN = 10;
/** Shorter runs of letters alone are often names of classes. */
const MIN_LETTERS = 14;
const MIN_PASSWORD = 8;
/** Shorter runs, and shorter parts, must have all three kinds of characters, well mixed. */
const MIN_PLAIN = 16;
const MIN_PART = 12;
const TOKEN = byteSet(`${ALPHANUMERIC}+=_%~-`);
const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;

/** All candidates in a path, including overlapping ones. */
export function secretsInPath(scanner: Scanner, path: Buffer, from: number, to: number): Candidate[] {
  const found = scanner.scan(path, from, to, { random: false, loose: true });
  for (let start = from; start <= to; ) {
    const slash = path.indexOf(0x2f, start);
    const end = slash < 0 || slash > to ? to : slash;
    if (end - start >= MIN_PASSWORD) inName(scanner, path, start, end, found);
    start = end + 1;
  }
  return found;
}

function inName(scanner: Scanner, path: Buffer, start: number, end: number, found: Candidate[]): void {
  const name = path.toString("latin1", start, end);
  // The extension is not part of a value.
  const stem = start + name.replace(/(?:\.[A-Za-z][A-Za-z0-9]{0,7}){1,2}$/, "").length;
  for (const limit of new Set([end, stem])) {
    for (const span of scanner.scan(path, start, limit, { loose: true })) {
      if (limit === stem || span.end < end) found.push(span);
      else if (span.start < stem) found.push({ ...span, end: Math.max(stem, span.start + 1) });
    }
  }
  for (let at = start; at < stem; ) {
    let last = at;
    while (last < stem && TOKEN[path[last] as number] === 1) last++;
    const token = randomPart(path, at, last);
    if (token) found.push({ rule: NAME_RULE, ...token, weight: WEIGHT.random });
    at = last + 1;
  }
  for (const word of path.toString("latin1", start, stem).matchAll(/[A-Za-z0-9@$!]{7,}/g)) {
    const first = start + word.index;
    if (isLeet(word[0]))
      found.push({ rule: NAME_RULE, start: first, end: first + word[0].length, weight: WEIGHT.random });
  }
  if (isPassword(path.toString("latin1", start, stem)))
    found.push({ rule: NAME_RULE, start, end: stem, weight: WEIGHT.random });
}

/** The range from the first to the last random part of a run that contains separators. */
function randomPart(path: Buffer, start: number, end: number): Span | undefined {
  if (end - start < MIN_TOKEN) return undefined;
  const text = path.toString("latin1", start, end).replace(UUID, (id) => " ".repeat(id.length));
  if (isStandIn(text)) return undefined;
  let span: Span | undefined;
  for (const part of text.matchAll(/[A-Za-z0-9]{10,}/g)) {
    const first = start + part.index;
    const strict = end - start < MIN_PLAIN || part[0].length < MIN_PART;
    if (isRandom(path, first, first + part[0].length, part[0], strict))
      span = { start: span?.start ?? first, end: first + part[0].length };
  }
  return (
    span && { start: span.start, end: span.end + (/^=+/.exec(path.toString("latin1", span.end, end))?.[0].length ?? 0) }
  );
}

function isRandom(path: Buffer, start: number, end: number, text: string, strict: boolean): boolean {
  const make = makeOf(path, start, end);
  const mixed = make.changes - make.humps;
  // Class names have capitals too, but each is followed by small letters.
  if (make.digits < 2 && make.length >= MIN_LETTERS)
    return make.capitals > 3 && mixed >= make.length * (make.length < MIN_PLAIN ? 0.5 : 0.35);
  if (make.digits < (strict ? 1 : 2)) return false;
  if (make.small + make.capitals < 2 || isWordy(text)) return false;
  if (/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(text)) return text.length >= 30;
  const entropy = entropyOf(path, start, end);
  if (strict && (make.small < 2 || make.capitals < 2 || mixed < make.length * 0.4)) return false;
  if (make.length >= 24 && (make.small === 0 || make.capitals === 0)) return mixed >= 3 && entropy >= 3.6;
  return mixed >= make.length * 0.22 && entropy >= 3;
}

/** `Tr0ub4dor&3`: symbols that file names do not have, and digits inside words. */
function isPassword(stem: string): boolean {
  if (stem.length < MIN_PASSWORD || stem.length > 64 || /[\s[\]{},']/.test(stem)) return false;
  if (/[()]/.test(stem) && new Set(stem.match(/[!#$^&*?@=+]/g)).size < 3) return false;
  if (!/[!#$^&*?]/.test(stem) || !/\d/.test(stem) || !/[A-Za-z]/.test(stem) || isStandIn(stem)) return false;
  return !isWordy(stem.replace(/[^A-Za-z0-9]/g, "")) || /[A-Za-z]\d+[!#$^&*?]$/.test(stem);
}

/** `Tr0ub4dor`, `Adm1nPass`: digits in place of letters, twice or in a word that is common in passwords. */
function isLeet(word: string): boolean {
  if (WELL_KNOWN.test(word)) return true;
  if (/^[0-9a-f]+$/i.test(word) || /[2689]/.test(word)) return false;
  const count = word.match(/(?<=^|[A-Za-z])(?:[013457]{1,2}|[@$])(?=[A-Za-z])/g)?.length ?? 0;
  const spelled = word.toLowerCase().replace(/[@$!013457]/g, (sign) => LETTER_FOR[sign] ?? sign);
  return count >= 2 || (count === 1 && /pass|secret|admin|root|super|login|master|access|welcome|qwerty/.test(spelled));
}

/** Passwords that are common in lists and examples. */
const WELL_KNOWN =
  /^(?:hunter2{1,2}|swordfish|letmein\w{0,8}|opensesame|trustno1|iloveyou\d{0,4}|(?:password|admin|root|secret|welcome|changeme|qwerty|summer|winter|spring|autumn)\d{3,4})$/i;

const LETTER_FOR: Readonly<Record<string, string>> = {
  "@": "a",
  $: "s",
  "!": "i",
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
};
