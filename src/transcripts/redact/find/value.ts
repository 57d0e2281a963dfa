/** Classifies a value: random, a person's password, or a word, name or reference that is not a secret. */
import { isCapital, isDigit, isSmall, isSpace } from "../bytes.ts";

const counts = new Uint16Array(256);

/** Shannon's entropy of the bytes, in bits a byte. */
export function entropyOf(bytes: Uint8Array, start: number, end: number): number {
  const length = Math.min(end - start, 4096);
  if (length <= 0) return 0;
  for (let i = start; i < start + length; i++) counts[bytes[i] as number] = (counts[bytes[i] as number] as number) + 1;
  let sum = 0;
  for (let i = start; i < start + length; i++) {
    const count = counts[bytes[i] as number] as number;
    if (count === 0) continue;
    sum += count * Math.log2(count);
    counts[bytes[i] as number] = 0;
  }
  return Math.log2(length) - sum / length;
}

export interface Make {
  length: number;
  digits: number;
  capitals: number;
  small: number;
  /** Other than letters, digits and `- _ .`, which join words. */
  symbols: number;
  spaces: number;
  /** How often the kind changes from one byte to the next: often in random text, rarely in names. */
  changes: number;
  /** Changes from a capital to a small letter, as in `someLongName`. */
  humps: number;
}

export function makeOf(bytes: Uint8Array, start: number, end: number): Make {
  const make: Make = {
    length: end - start,
    digits: 0,
    capitals: 0,
    small: 0,
    symbols: 0,
    spaces: 0,
    changes: 0,
    humps: 0,
  };
  let before = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    let kind = 0;
    if (isSmall(byte)) {
      kind = 1;
      make.small++;
    } else if (isCapital(byte)) {
      kind = 2;
      make.capitals++;
    } else if (isDigit(byte)) {
      kind = 3;
      make.digits++;
    } else if (isSpace(byte)) make.spaces++;
    else if (byte !== 0x2d && byte !== 0x5f && byte !== 0x2e) make.symbols++;
    if (kind !== before && i > start) make.changes++;
    if (kind === 1 && before === 2) make.humps++;
    before = kind;
  }
  return make;
}

/** In longer values, a word that looks like a stand-in is a coincidence. */
const MAX_STAND_IN = 120;

/** References to another value, and stand-ins for a secret. */
export function isStandIn(value: string): boolean {
  if (/^[$%{<[*@&|(!]/.test(value) && !/^[$!@*&%][A-Za-z]*\d/.test(value)) return true;
  if (value.length > MAX_STAND_IN) return /^(.)\1*$/.test(value);
  if (/\$\{|\{\{|\$\(|<[A-Za-z]|\.\.\.|…|\*\*\*|[Xx]{4}|__[A-Z][A-Z_]{2,}|%[sdv]\b/.test(value)) return true;
  if (/^(.)\1*$/.test(value)) return true;
  return STAND_INS.test(value);
}

const STAND_INS =
  /example|placeholder|change_?me|change-me|redacted|dummy|sample|your[_-]|yourpass|yourtoken|yoursecret|^my[_-]?(?:secret|token|key|password)$|^(?:null|none|nil|undefined|true|false|required|optional|string|password|passwd|secret|token|prompt|hidden|masked|unset|empty|todo|tbd|foobar|foo|bar|baz|test|testing|text|value|default|system|user|admin|root|postgres|enabled|disabled|invalid|missing|unknown|bearer|basic)$|process\.env|os\.environ|getenv|import\.meta|insert[_-]|replace[_-]|1234567890abcdef|0123456789abcdef|abcdefghijklmn/i;

/** Made of words: `user-input`, `prod_db_v2`, `SomeClass`, `config.auth.token`. */
export function isWordy(value: string): boolean {
  return value.split(/[-_.:/]+/).every(isWordOrTwo);
}

/** Letters followed by at most four digits, with capitals only at the start of words, or everywhere. */
function isWordOrTwo(part: string): boolean {
  const letters = part.replace(/\d{1,4}$/, "");
  if (!/^[A-Za-z]*$/.test(letters)) return false;
  if (letters === letters.toUpperCase() || letters === letters.toLowerCase()) return true;
  const capitals = letters.replace(/[a-z]+/g, "").length;
  return capitals === 1
    ? letters[0] !== letters[0]?.toLowerCase() || letters.length >= 6
    : capitals <= letters.length / 3;
}

/** `zNMcmGXQqvGRlx`: letters alone, with capitals where no word has them. */
export function isScrambledLetters(value: string): boolean {
  if (!/^[A-Za-z]{8,64}$/.test(value) || isWordy(value)) return false;
  return /[a-z]/.test(value.slice(0, -1)) && (value.match(/[a-z](?=[A-Z])/g)?.length ?? 0) >= 2;
}

/** `base64`, `sha256`, `oauth2`, `step3`: words with a number that describe secrets. */
export function isTechnical(value: string): boolean {
  return TECHNICAL.test(value);
}

const TECHNICAL =
  /^(?:base|sha|md|utf|oauth|http|argon|pbkdf|aes|rsa|ed|x|v|ipv|tls|ssl|win|u?int|float|es|hs|rs|ps|p|python|node|php|java|scrypt|blake|crc|iso|rfc|h|s|k|step|line|section|option|part|version|phase|test|user|field|arg|param)-?\d{1,5}(?:[-_.]\w+)*$/i;

/** `/home/dev/run.17731/proj`: a path, with any digits and slashes. */
export function hasPathOfWords(value: string): boolean {
  return (
    /^(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@~-]+(?:[/\\][\w.@~-]*)*$/.test(value) && /[/\\][a-z]{3,}(?:[/\\]|$)/.test(value)
  );
}

/** An expression in code: a member, an index, a call, a path. */
export function isReference(value: string): boolean {
  if (/[(){}[\]]/.test(value)) return true;
  if (/^(?:~|\.{1,2}|[A-Za-z]:)?[/\\]/.test(value) && !/[+=]/.test(value)) return true;
  if (/^[a-z][a-z+.-]*:\/\//i.test(value)) return true;
  return /^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+$/.test(value);
}
