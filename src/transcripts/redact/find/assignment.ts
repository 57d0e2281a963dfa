/**
 * Finds values assigned to a name that means a secret: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`, `name: …⏎value:
 * …`.
 */
import { BACKSLASH, isSmall, isSpace, isWord, NEWLINE, QUOTE } from "../bytes.ts";
import { endOfName, MAX_TAIL, type NameKind, nameHolds } from "./names.ts";
import { saidBefore, spokenAfter } from "./prose.ts";
import {
  entropyOf,
  hasPathOfWords,
  isReference,
  isScrambledLetters,
  isStandIn,
  isTechnical,
  isWordy,
  type Make,
  makeOf,
} from "./value.ts";

export interface Assigned {
  start: number;
  end: number;
  quoted: boolean;
  /** No space around `=`, as in environments, queries and connection strings. */
  tight: boolean;
  /** All capitals. */
  constant: boolean;
  /** The value is followed by something that follows an expression in code. */
  inCode: boolean;
  /** The opening quote, if the line ends before the closing one. */
  open?: number;
  /** The name is a separate argument, as in `setenv("API_TOKEN", "…")`. This also occurs in plain lists of words. */
  listed?: boolean;
  /** A setting on its own line: `spring.datasource.password=…` */
  setting?: boolean;
  /** The value only follows the name by position, so it must have digits and letters. */
  weak?: boolean;
  /** Nothing but a value can follow (an option, a `.netrc`, a known sentence), so any word counts. */
  certain?: boolean;
}

export const MAX_VALUE = 512;
/** What may follow a prefix of a string: quotes, or the backslash before one. */
const QUOTES = Buffer.from("\"'\\");
const MAX_SPACED_NAME = 200;
const MAX_BLANKS = 40;

/** Returns the value assigned to the name that contains the word; undefined if that name does not mean a secret. */
export function assignedAfter(
  bytes: Buffer,
  from: number,
  wordStart: number,
  wordEnd: number,
  to: number,
  kind?: NameKind,
): Assigned | undefined {
  const nameEnd = endOfName(bytes, wordEnd, to);
  if (kind && !nameHolds(kind, bytes, from, wordStart, wordEnd, nameEnd)) return undefined;
  let at = nameEnd;
  let closed = false;
  for (let i = 0; i < 8 && at < to && isCloser(bytes[at]); i++, at++) closed = true;
  const beforeSpace = at;
  at = skipBlanks(bytes, at, to, MAX_BLANKS);
  const spaced = at > beforeSpace;
  const constant = isConstant(bytes, wordStart, nameEnd);
  const operator = at < to ? operatorAt(bytes, at, closed) : 0;
  if (operator === 0) {
    const apart = valueApart(bytes, nameEnd, to);
    if (apart !== undefined) return valueAt(bytes, apart, to, { tight: false, constant });
    if (!spaced && (kind !== "password" || closed)) return undefined;
    if (!spaced)
      return bytes[at] === 0x2c
        ? spokenAfter(bytes, from, wordStart, nameEnd, to, "password")
        : saidBefore(bytes, from, wordStart);
    if (!closed && (isOption(bytes, from, wordStart) || isGiven(bytes, from, wordStart)))
      return valueAt(bytes, at, to, { tight: false, constant, certain: isGiven(bytes, from, wordStart) });
    if (closed || !kind) return undefined;
    const beside = valueBeside(bytes, wordStart, beforeSpace, at, to);
    if (beside !== undefined) return valueAt(bytes, beside, to, { tight: false, constant, weak: true });
    return spokenAfter(bytes, from, wordStart, nameEnd, to, kind);
  }
  at += operator;
  const behind = at;
  at = skipBlanks(bytes, at, to, MAX_BLANKS);
  const tight = !spaced && at === behind && bytes[behind - 1] === 0x3d;
  const setting = tight && isSetting(bytes, from, wordStart);
  const listed = bytes[behind - 1] === 0x2c;
  const assigned = valueAt(bytes, at, to, { tight, constant, setting, listed });
  return listed && !assigned?.quoted ? undefined : assigned;
}

export function holdsSecret(bytes: Buffer, assigned: Assigned, kind: NameKind): boolean {
  if (bytes.subarray(assigned.start, assigned.end).includes("\\\n"))
    return holdsSecret(...joined(bytes, assigned), kind);
  const { start, end } = assigned;
  const make = makeOf(bytes, start, end);
  if (make.length > MAX_VALUE) return false;
  const value = bytes.toString("utf8", start, end);
  if (make.spaces > 0)
    return assigned.quoted && (assigned.certain || isScrambledSentence(bytes, assigned, make, value));
  if (kind === "pin") return /^\d{4,8}$/.test(value) && !/^(\d)\1*$/.test(value) && !assigned.inCode;
  if (make.length < MIN_LENGTH[kind] || isCode(value, assigned)) return false;
  // Generated keys may contain any symbol; quoted code is less mixed.
  const scrambled = assigned.quoted && make.digits > 1 && make.symbols > 3 && entropyOf(bytes, start, end) >= 4;
  if ((!scrambled || hasPathOfWords(value)) && (isStandIn(value) || (kind !== "session" && isReference(value))))
    return false;
  if (kind === "password") return isPassword(value, make, assigned);
  if (assigned.constant && assigned.tight && kind === "secret" && isSecretWord(make)) return true;
  if ((assigned.weak || assigned.listed) && !/^[\w+/=.-]{16,}$/.test(value)) return false;
  if (!isRandom(bytes, value, make, assigned)) return false;
  if (kind === "session" && !/^[\w%.:+/=~-]+$/.test(value)) return false;
  if (kind === "session")
    return make.digits >= (make.length >= 20 ? 1 : 2) && !/[0-9a-f]{8}-[0-9a-f]{4}-|^\d{10,}_|^[a-z]+_/i.test(value);
  return kind !== "key" || isKey(value, make, assigned);
}

/** True for text between two string literals, or an expression without spaces, as in minified code. */
function isCode(value: string, { quoted, tight, constant }: Assigned): boolean {
  if (/^0x[0-9a-f]{1,16}$/i.test(value)) return true;
  if (quoted) return /^[)\],;+}]|=>|\)\{|\);|&&|\|\||===|\bfunction\b|\breturn\b/.test(value);
  if (/=[A-Za-z_$][\w$]{0,40}\./.test(value)) return true;
  return !(tight && constant) && /\?\?|\?\.|=>|==(?!=?$)|!=|&&|\|\||=[A-Za-z_$]|[?*]$|[?*][^\s=]|\)$/.test(value);
}

/** Joins a value that a backslash continues on the next line. */
function joined(bytes: Buffer, assigned: Assigned): [Buffer, Assigned] {
  const value = Buffer.from(bytes.toString("latin1", assigned.start, assigned.end).replaceAll("\\\n", ""), "latin1");
  return [value, { ...assigned, start: 0, end: value.length }];
}

const MIN_LENGTH: Readonly<Record<NameKind, number>> = {
  password: 4,
  secret: 12,
  key: 16,
  salt: 8,
  pin: 4,
  session: 16,
};
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** Words that labels and code have in the position of a password. */
const NO_PASSWORD =
  /password|passwd|passphrase|passcode|passkey|userpass|keepass|^pass|pwd|secret|token|auth|user|login|input|field|form|valid|require|enter|confirm|forgot|kennwort|wachtwoord|contrase|senha|parola|heslo|salasana|losenord|adgangskode|string|prompt|\bkey\b|keys$/i;

function isPassword(value: string, make: Make, assigned: Assigned): boolean {
  const letters = make.small + make.capitals;
  const plain = make.digits === 0 && make.symbols === 0;
  if (assigned.certain) return make.length >= 4 && (letters > 0 || make.length >= 6) && !/^--?\w/.test(value);
  if (/^[-.]/.test(value) || (assigned.listed && /["']/.test(value))) return false;
  if (make.length < 6 && !(assigned.tight && assigned.constant && !plain)) return false;
  if (letters === 0) return make.symbols > 0 && make.digits > 0;
  if (assigned.tight && assigned.constant) return true;
  if (assigned.inCode && !assigned.quoted && !assigned.tight) return false;
  if (assigned.weak && (assigned.inCode || isTechnical(value))) return false;
  if (assigned.weak && make.digits === 0 && !(assigned.quoted && isScrambledLetters(value))) return false;
  if (isPassphrase(value)) return true;
  if (plain && isScrambledLetters(value)) return !assigned.inCode && (!assigned.listed || assigned.constant);
  if (plain)
    return assigned.setting ? /^[a-z]{6,}$/.test(value) : assigned.quoted && !assigned.listed && isPlainWord(value);
  if (!isWordy(value)) return true;
  return make.digits > 0 && !/[-_.:/]/.test(value) && !isTechnical(value);
}

/** `letmeinplease`: not a label, an identifier or a keyword. */
function isPlainWord(value: string): boolean {
  return /^[a-z]{8,}$/.test(value) && !NO_PASSWORD.test(value);
}

/** `correct-horse-battery-staple` */
function isPassphrase(value: string): boolean {
  return /^[a-z]{3,12}(?:-[a-z]{3,12}){3,}$/.test(value) && !NO_PASSWORD.test(value);
}

/** `JWT_SECRET=mysupersecretjwt`: not the name of something else. */
function isSecretWord(make: Make): boolean {
  return make.length >= 12 && make.digits + make.small === make.length && make.small > 0;
}

function isRandom(bytes: Buffer, value: string, make: Make, assigned: Assigned): boolean {
  if (make.small + make.capitals === 0) return false;
  if (assigned.inCode && !assigned.quoted && !assigned.tight) return false;
  if (isWordy(value)) return false;
  const entropy = entropyOf(bytes, assigned.start, assigned.end);
  if (make.digits === 0) return make.length >= 20 && make.changes >= make.length * 0.3 && entropy >= 3.5;
  return entropy >= (make.length < 24 ? 2.6 : 3);
}

/** Names that end in "key" often have other values, so these must look like keys. */
function isKey(value: string, make: Make, assigned: Assigned): boolean {
  if (
    make.digits < (make.length >= 24 && make.changes >= make.length * 0.4 ? 1 : 2) ||
    make.digits === make.length ||
    /[\s/\\(){}<>[\]?&,;@#$%^*!|"'`]/.test(value.replace(/^base64:/, ""))
  )
    return /^(?:base64:)?[A-Za-z0-9+/]{40,}={0,2}$/.test(value);
  if (UUID.test(value)) return assigned.tight && assigned.constant;
  if (/^[0-9a-f]+$/i.test(value)) return make.length >= 20;
  return make.changes >= make.length * 0.25;
}

/** A key as WordPress generates it: any characters, including spaces. */
function isScrambledSentence(bytes: Buffer, { start, end }: Assigned, make: Make, value: string): boolean {
  if (/\$\{|\{\{|\$\(|%[sd]/.test(value)) return false;
  return make.length >= 32 && make.symbols >= 4 && make.digits >= 2 && entropyOf(bytes, start, end) >= 4.4;
}

function valueAt(
  bytes: Buffer,
  at: number,
  to: number,
  about: Pick<Assigned, "tight" | "constant" | "setting" | "certain" | "listed" | "weak">,
): Assigned | undefined {
  // Python's b"…"
  const isPrefix = (bytes[at] === 0x62 || bytes[at] === 0x72) && QUOTES.includes(bytes[at + 1] ?? 0);
  let start = isPrefix ? at + 1 : at;
  while (start < at + 8 && bytes[start] === BACKSLASH) start++;
  const quote = bytes[start];
  const quoted = quote === QUOTE || quote === 0x27 || quote === 0x60;
  if (quoted) start++;
  else if (start !== at) return undefined;
  const limit = Math.min(to, start + MAX_VALUE + 1);
  let end = start;
  if (quoted) while (end < limit && bytes[end] !== quote && bytes[end] !== BACKSLASH && bytes[end] !== NEWLINE) end++;
  else
    while (end < limit) {
      if (!isEnd(bytes[end] as number)) end++;
      else if (bytes[end] === BACKSLASH && bytes[end + 1] === NEWLINE && end > start && end + 2 < to) end += 2;
      else break;
    }
  if (end === start) return undefined;
  const open = quoted && bytes[end] === NEWLINE && end < limit ? quote : undefined;
  const next = end < to ? bytes[end] : undefined;
  const inCode = !quoted && (next === 0x2c || next === 0x3b || next === 0x29 || next === 0x28);
  return {
    start,
    end,
    quoted,
    inCode,
    open,
    ...about,
    setting: about.setting && (next === undefined || next <= 0x20 || BEHIND_SETTING.includes(next)),
  };
}

/**
 * `=`, `:`, `:=`, `=>`, `==`, `===`, `>` of a tag; a comma between quoted arguments. Returns the length of the
 * operator.
 */
function operatorAt(bytes: Uint8Array, at: number, closed: boolean): number {
  const byte = bytes[at];
  const next = bytes[at + 1];
  if (byte === 0x3d) return next === 0x3d && bytes[at + 2] === 0x3d ? 3 : next === 0x3e || next === 0x3d ? 2 : 1;
  if (byte === 0x3a) return next === 0x3d ? 2 : next === 0x3a ? 0 : 1;
  if (byte === 0x3e) return 1;
  return byte === 0x2c && closed ? 1 : 0;
}

/**
 * Returns the start of a value that is separate from its name: `key="SmtpPassword" value="…"`, `- name: DB_PASSWORD⏎
 * value: …`.
 */
function valueApart(bytes: Buffer, nameEnd: number, to: number): number | undefined {
  const text = bytes.toString("latin1", nameEnd, Math.min(to, nameEnd + 48));
  const match = /^(?:\\*["'])?(?:,|(?:\\+r)?\\+n|\s)\s*(?:\\*["'])?value(?:\\*["'])?\s*[=:]\s*/i.exec(text);
  return match ? nameEnd + match[0].length : undefined;
}

/**
 * Returns the start of a value in the next column (`password    …`, `| password | … |`), in quotes, or after a setting.
 */
function valueBeside(
  bytes: Uint8Array,
  wordStart: number,
  nameEnd: number,
  at: number,
  to: number,
): number | undefined {
  const byte = bytes[at];
  // A horizontal rule, in ASCII or box-drawing characters.
  const bar = byte === 0x7c ? 1 : byte === 0xe2 && bytes[at + 1] === 0x94 ? 3 : 0;
  if (bar > 0) return skipBlanks(bytes, at + bar, to, MAX_BLANKS);
  if (byte === QUOTE || byte === 0x27 || byte === BACKSLASH) return at;
  // `hibernate.connection.password …`
  const before = bytes[wordStart - 1];
  const isSetting = before === 0x2e || before === 0x5f || before === 0x2d;
  return isSetting || at - nameEnd > 1 || bytes[nameEnd] === 0x09 ? at : undefined;
}

/** `--token …` */
function isOption(bytes: Buffer, from: number, wordStart: number): boolean {
  let at = wordStart;
  while (at > from && at > wordStart - MAX_TAIL && (isWord(bytes[at - 1]) || bytes[at - 1] === 0x2d)) at--;
  return bytes[at] === 0x2d && (at === from || isSpace(bytes[at - 1]) || bytes[at - 1] === QUOTE);
}

/** A value follows the name after a space: `machine … login … password …`, `ENV NAME …`, `config set NAME …`. */
function isGiven(bytes: Buffer, from: number, wordStart: number): boolean {
  const start = Math.max(from, wordStart - 100);
  const before = bytes.toString("latin1", start, wordStart);
  return /(?:^|\s)login\s+\S{1,64}\s+$|(?:^|[^A-Za-z]|\\n)(?:ENV|ARG|setx|config(?:ure)? set)\s+[\w.:/-]*$/.test(
    before,
  );
}

/** Line ends, quotes, and the separators of an address. */
const BEFORE_SETTING = Buffer.from("\n\"'`=&?");
const BEHIND_SETTING = Buffer.from("\"'`\\&");

/** True if the name begins a line and looks like a setting rather than code. */
function isSetting(bytes: Buffer, from: number, wordStart: number): boolean {
  let at = wordStart;
  while (
    at > from &&
    at > wordStart - MAX_SPACED_NAME &&
    (isWord(bytes[at - 1]) || bytes[at - 1] === 0x2d || bytes[at - 1] === 0x2e)
  )
    at--;
  // A literal `\n` puts its letter at the beginning of the name.
  if (at > from && bytes[at - 1] === BACKSLASH && (bytes[at] === 0x6e || bytes[at] === 0x72)) at++;
  else if (at > from && !BEFORE_SETTING.includes(bytes[at - 1] as number)) return false;
  const before = bytes.toString("latin1", at, Math.max(at, wordStart));
  return (
    (before === "" || /[._-]$/.test(before)) &&
    !/^(?:self|this|cls|args?|opts?|options|user|req|request|config)\./.test(before)
  );
}

function isConstant(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (isSmall(bytes[i] as number)) return false;
  return true;
}

function isCloser(byte: number | undefined): boolean {
  return byte === QUOTE || byte === 0x27 || byte === 0x60 || byte === BACKSLASH || byte === 0x5d || byte === 0x29;
}

/** The characters that end an unquoted value: spaces, quotes, and `; , & < > ) } ] | \`. */
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
