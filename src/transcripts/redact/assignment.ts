/** Names that say «secret» and what is assigned to them: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`. */
import { BACKSLASH, isCapital, isSmall, isSpace, isWord, QUOTE } from "./bytes.ts";
import { entropyOf, isReference, isStandIn, isWordy, makeOf } from "./value.ts";

export type NameKind = "password" | "secret";

export const NAMES: Readonly<Record<string, NameKind>> = {
  password: "password",
  passwd: "password",
  passphrase: "password",
  passcode: "password",
  _pass: "password",
  pwd: "password",
  secret: "secret",
  secretkey: "secret",
  secretaccesskey: "secret",
  token: "secret",
  authtoken: "secret",
  api_key: "secret",
  apikey: "secret",
  "api-key": "secret",
  access_key: "secret",
  accesskey: "secret",
  "access-key": "secret",
  account_key: "secret",
  accountkey: "secret",
  auth_key: "secret",
  authkey: "secret",
  private_key: "secret",
  privatekey: "secret",
  "private-key": "secret",
  encryption_key: "secret",
  encryptionkey: "secret",
  signing_key: "secret",
  signingkey: "secret",
  master_key: "secret",
  masterkey: "secret",
  credential: "secret",
  _auth: "secret",
  "x-auth": "secret",
};

export interface Assigned {
  start: number;
  end: number;
  quoted: boolean;
  /** As environments, queries and connection strings have it: no space around `=`. */
  tight: boolean;
  /** All capitals. */
  constant: boolean;
  /** Behind it comes what code has behind an expression. */
  inCode: boolean;
}

const LONGEST_TAIL = 32;
const LONGEST_VALUE = 512;

/** Ends of names that speak about a secret and do not hold it: `token_count`, `passwordField`, `secret_name`. */
const ABOUT =
  /(?:^|[_.-])(?:s|ids?|names?|files?|path|dir|ur[il]s?|endpoint|types?|counts?|length|len|size|limits?|budget|usage|expir\w*|ttl|at|age|fields?|labels?|placeholder|prefix|suffix|pattern|regexp?|policy|version|format|hint|alg|algorithm|env|var|manager|provider|service|store|ref|header|param|schema|rules?|reset|changed?|required|enabled|strength|input|form|error|message|text|page|handler|class|index|list|map|set|used|total|per|cost|rate|stats?|ring|pair|board|code|press|down|up|event|hash|fingerprint|algo|bucket|arn|source|scheme|method|callback|response|request|result|model|window)$/i;

/** What is assigned to the name in which a word ends at `wordEnd`; nothing where the name is no such name. */
export function assignedAfter(
  bytes: Uint8Array,
  from: number,
  wordStart: number,
  wordEnd: number,
  to: number,
): Assigned | undefined {
  const nameEnd = endOfName(bytes, wordEnd, to);
  if (nameEnd > wordEnd && !tailHolds(bytes, wordEnd, nameEnd)) return undefined;
  let at = nameEnd;
  let closed = false;
  for (let i = 0; i < 4 && isCloser(bytes[at]); i++, at++) closed = true;
  // «the password is: …»
  if (!closed && bytes[at] === 0x20 && bytes[at + 1] === 0x69 && bytes[at + 2] === 0x73 && at + 3 < to) at += 3;
  const beforeSpace = at;
  at = skipBlanks(bytes, at, to, 3);
  const spaced = at > beforeSpace;
  const operator = operatorAt(bytes, at, closed);
  if (operator === 0) {
    const spoken = isOption(bytes, from, wordStart) || isNetrc(bytes, from, wordStart);
    if (!spaced || closed || !spoken) return undefined;
  }
  at += operator;
  const behind = at;
  at = skipBlanks(bytes, at, to, 8);
  const tight = operator > 0 && !spaced && at === behind && bytes[behind - 1] === 0x3d;
  const constant = isConstant(bytes, wordStart, nameEnd);
  return valueAt(bytes, at, to, { tight, constant });
}

export function endOfName(bytes: Uint8Array, wordEnd: number, to: number): number {
  const limit = Math.min(to, wordEnd + LONGEST_TAIL);
  let at = wordEnd;
  while (at < limit && (isWord(bytes[at]) || bytes[at] === 0x2d || bytes[at] === 0x2e)) at++;
  return at;
}

function tailHolds(bytes: Uint8Array, wordEnd: number, nameEnd: number): boolean {
  const first = bytes[wordEnd] as number;
  const last = bytes[wordEnd - 1] as number;
  if ((isSmall(first) && isSmall(last)) || (isCapital(first) && isCapital(last))) return false;
  return tailIsFine(Buffer.from(bytes.subarray(wordEnd, nameEnd)).toString("latin1"));
}

function tailIsFine(tail: string): boolean {
  return !ABOUT.test(tail.replace(/([a-z])([A-Z])/g, "$1_$2").replace(/^([A-Z])/, "_$1"));
}

/** Whether a JSON object's key is such a name, and of which kind. */
export function kindOfKey(key: string): NameKind | undefined {
  const lower = key.toLowerCase();
  for (const [name, kind] of Object.entries(NAMES)) {
    const at = lower.lastIndexOf(name);
    if (at < 0 && lower !== name.replace(/^_/, "")) continue;
    const end = at < 0 ? key.length : at + name.length;
    const [first = "", last = ""] = [key[end], key[end - 1]];
    if ((/[a-z]/.test(first) && /[a-z]/.test(last)) || (/[A-Z]/.test(first) && /[A-Z]/.test(last))) continue;
    if (tailIsFine(key.slice(end))) return kind;
  }
  return undefined;
}

export function holdsSecret(bytes: Uint8Array, assigned: Assigned, kind: NameKind): boolean {
  const { start, end } = assigned;
  const make = makeOf(bytes, start, end);
  if (make.spaces > 0 || make.length < (kind === "password" ? 6 : 12) || make.length > LONGEST_VALUE) return false;
  const value = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
  // Generated keys may hold any symbol; what code has in quotes is not so mixed.
  const scrambled = assigned.quoted && make.digits > 1 && make.symbols > 3 && entropyOf(bytes, start, end) >= 4;
  if (!scrambled && (isStandIn(value) || isReference(value))) return false;
  return kind === "password" ? isPassword(value, make, assigned) : isRandom(bytes, value, make, assigned);
}

function isPassword(value: string, make: ReturnType<typeof makeOf>, assigned: Assigned): boolean {
  const letters = make.small + make.capitals;
  if (letters === 0) return make.symbols > 0 && make.digits > 0;
  if (assigned.tight && assigned.constant) return true;
  if (assigned.inCode && !assigned.quoted && !assigned.tight) return false;
  if (make.digits === 0 && make.symbols === 0) return false;
  if (!isWordy(value)) return make.digits + make.symbols > 0;
  return make.digits > 0 && !/[-_.:/]/.test(value);
}

function isRandom(bytes: Uint8Array, value: string, make: ReturnType<typeof makeOf>, assigned: Assigned): boolean {
  const letters = make.small + make.capitals;
  if (letters === 0) return false;
  if (assigned.inCode && !assigned.quoted && !assigned.tight) return false;
  if (isWordy(value)) return false;
  const entropy = entropyOf(bytes, assigned.start, assigned.end);
  if (make.digits === 0) return make.length >= 20 && make.changes >= make.length * 0.3 && entropy >= 3.5;
  return entropy >= (make.length < 16 ? 2.8 : 3);
}

function valueAt(
  bytes: Uint8Array,
  at: number,
  to: number,
  about: { tight: boolean; constant: boolean },
): Assigned | undefined {
  let start = at;
  while (start < at + 3 && bytes[start] === BACKSLASH) start++;
  const quote = bytes[start];
  const quoted = quote === QUOTE || quote === 0x27 || quote === 0x60;
  if (quoted) start++;
  else if (start !== at) return undefined;
  const limit = Math.min(to, start + LONGEST_VALUE + 1);
  let end = start;
  if (quoted) while (end < limit && bytes[end] !== quote && bytes[end] !== BACKSLASH && bytes[end] !== 0x0a) end++;
  else while (end < limit && !isEnd(bytes[end] as number)) end++;
  if (end === start || (quoted && end < limit && bytes[end] === 0x0a)) return undefined;
  const next = end < to ? bytes[end] : undefined;
  const inCode = !quoted && (next === 0x2c || next === 0x3b || next === 0x29 || next === 0x28);
  return { start, end, quoted, inCode, ...about };
}

/** `=`, `:`, `:=`, `=>`, `==`, `>` of a tag; a comma between quoted arguments. Gives its length. */
function operatorAt(bytes: Uint8Array, at: number, closed: boolean): number {
  const byte = bytes[at];
  const next = bytes[at + 1];
  if (byte === 0x3d) return next === 0x3e || next === 0x3d ? 2 : 1;
  if (byte === 0x3a) return next === 0x3d ? 2 : next === 0x3a ? 0 : 1;
  if (byte === 0x3e) return 1;
  return byte === 0x2c && closed ? 1 : 0;
}

function isOption(bytes: Uint8Array, from: number, wordStart: number): boolean {
  let at = wordStart;
  while (at > from && at > wordStart - LONGEST_TAIL && (isWord(bytes[at - 1]) || bytes[at - 1] === 0x2d)) at--;
  return bytes[at] === 0x2d && (at === from || isSpace(bytes[at - 1]) || bytes[at - 1] === QUOTE);
}

/** `machine … login … password …` */
function isNetrc(bytes: Uint8Array, from: number, wordStart: number): boolean {
  const start = Math.max(from, wordStart - 100);
  const before = Buffer.from(bytes.buffer, bytes.byteOffset + start, wordStart - start).toString("latin1");
  return /(?:^|\s)login\s+\S{1,64}\s+$/.test(before);
}

function isConstant(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (isSmall(bytes[i] as number)) return false;
  return true;
}

function isCloser(byte: number | undefined): boolean {
  return byte === QUOTE || byte === 0x27 || byte === 0x60 || byte === BACKSLASH || byte === 0x5d || byte === 0x29;
}

/** What ends a value without quotes: blanks, quotes, and `; , & < > ) } ] | \`. */
function isEnd(byte: number): boolean {
  if (byte <= 0x20 || byte === QUOTE || byte === 0x27 || byte === 0x60 || byte === BACKSLASH) return true;
  return byte === 0x3b || byte === 0x2c || byte === 0x26 || byte === 0x3c || byte === 0x3e || byte === 0x7c
    ? true
    : byte === 0x29 || byte === 0x7d || byte === 0x5d;
}

function skipBlanks(bytes: Uint8Array, at: number, to: number, most: number): number {
  let end = at;
  while (end < to && end < at + most && (bytes[end] === 0x20 || bytes[end] === 0x09)) end++;
  return end;
}
