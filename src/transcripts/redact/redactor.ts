/** Redacts secrets in texts and transcripts, and reports the redactions. */
import { asBuffer } from "../lines.ts";
import { isWord, NEWLINE } from "./bytes.ts";
import { type Candidate, RULE_OF, settle, WEIGHT } from "./candidate.ts";
import type { Custom } from "./custom.ts";
import { type Field, isOpaque, type Key, Keys, NO_KEY, type SecretKind } from "./fields.ts";
import { holdsSecret } from "./find/assignment.ts";
import { authorizationAt, type Span } from "./find/blocks.ts";
import { codesAfter } from "./find/codes.ts";
import { cookiesIn } from "./find/cookies.ts";
import { declaredAround } from "./find/manifests.ts";
import { eachString, rawOffsets, type StringValue, withoutEscapes } from "./json.ts";
import { NAME_RULE, secretsInPath } from "./paths.ts";
import { type Placeholders, placeholdersIn, type Secret } from "./placeholders.ts";
import { nearAt, Scanner, type ScanOptions } from "./scan.ts";
import { lookUntilStable } from "./stable.ts";

export interface RedactionSettings {
  /** The user's own patterns (`redaction.rules`). */
  rules?: readonly string[];
  /** Values that look secret but are not (`redaction.allow`): texts, or patterns that match a whole value. */
  allow?: readonly string[];
}

export interface RedactOptions {
  placeholders: Placeholders;
  /**
   * `jsonl`: each line separately, as JSON if it is JSON. `json`: one JSON text. `text`: anything else. By default, one
   * JSON text if the input is JSON, otherwise line by line.
   */
  format?: "jsonl" | "json" | "text";
  /**
   * The input was redacted before, so keep its placeholders. Otherwise a text that looks like a placeholder is a
   * coincidence and gets its own placeholder, so that restoring is exact.
   */
  again?: boolean;
  /** Values that are secret wherever they appear as a separate word, whatever they look like. */
  known?: readonly Secret[];
}

interface Finding {
  rule: string;
  /** Bytes of the input. */
  start: number;
  end: number;
  placeholder: string;
}

export interface Redacted {
  bytes: Buffer;
  found: Finding[];
}

export interface Redactor {
  redact(input: Uint8Array | string, options: RedactOptions): Redacted;
  /** Redacts a path or another chosen name. Only the parts that look secret change. */
  redactPath(path: string, options: PathOptions): string;
  /** What looks secret in a path. */
  secretsInPath(path: string, known?: readonly Secret[]): Secret[];
}

type PathOptions = Pick<RedactOptions, "placeholders" | "known">;

/** Increase this when the built-in rules find more, so that text redacted or checked with fewer rules is rescanned. */
export const RULES_REVISION = 4;

const DECLARED_BY = /^"(?:Secret|random_password|sensitive(?:_values|_attributes)?)"$/;
/** Shorter values have no room for a name, an operator and a password. */
const SHORTEST = 8;
const MIN_PASSWORD = 4;
const MIN_KEY = 20;
const MAX_NAME = 80;
const RANDOM: ScanOptions = { random: true };
const NOT_RANDOM: ScanOptions = { random: false };
const LOOSE: ScanOptions = { random: false, loose: true };

let scanner: Scanner | undefined;

export async function createRedactor(settings: RedactionSettings = {}): Promise<Redactor> {
  const { rules = [], allow = [] } = settings;
  const custom =
    rules.length + allow.length > 0 ? (await import("./custom.ts")).compileCustom(rules, allow) : undefined;
  scanner ??= new Scanner();
  const finder = new Finder(scanner, custom);
  return {
    redact(input, options) {
      const bytes = typeof input === "string" ? Buffer.from(input) : asBuffer(input);
      return replaced(bytes, finder.find(bytes, options), options.placeholders);
    },
    redactPath(path, { placeholders, known = [] }) {
      const bytes = Buffer.from(path);
      const { bytes: after, found } = replaced(bytes, finder.findInPath(bytes, known), placeholders);
      return found.length > 0 ? after.toString("utf8") : path;
    },
    secretsInPath(path, known = []) {
      const bytes = Buffer.from(path);
      return finder
        .findInPath(bytes, known)
        .map(({ rule, start, end }) => ({ rule, value: bytes.toString("latin1", start, end) }));
    },
  };
}

class Finder {
  readonly #scanner: Scanner;
  readonly #custom: Custom | undefined;
  readonly #keys: Keys;
  #scratch = Buffer.alloc(64 * 1024);
  #again = false;
  #known: readonly Secret[] = [];

  constructor(scanner: Scanner, custom: Custom | undefined) {
    this.#scanner = scanner;
    this.#keys = new Keys(scanner.rules);
    this.#custom = custom;
  }

  find(bytes: Buffer, { format, again, known = [] }: RedactOptions): Candidate[] {
    const found: Candidate[] = [];
    this.#again = again ?? false;
    this.#known = known;
    if (format === "text") this.#text(bytes, 0, bytes.length, found);
    else if (format === "json" || (format === undefined && isOneJson(bytes))) this.#json(bytes, 0, bytes.length, found);
    else this.#lines(bytes, format === undefined, found);
    const literals = again ? [] : [...placeholdersIn(bytes)];
    return settle([
      ...found,
      ...literals.map(({ start, end }) => ({ rule: "literal", weight: WEIGHT.literal, start, end })),
    ]);
  }

  findInPath(path: Buffer, known: readonly Secret[]): Candidate[] {
    const look = (bytes: Buffer, from: number, to: number) => {
      const found = [...secretsInPath(this.#scanner, bytes, from, to), ...knownIn(known, bytes, from, to)];
      if (!this.#custom) return found;
      return allowed(this.#custom, bytes, [...found, ...this.#custom.find(bytes, from, to)]);
    };
    return lookUntilStable(path, 0, path.length, true, look(path, 0, path.length), look);
  }

  /** Redacts each line separately, or, with `joined`, adjacent lines that are not JSON together: a key spans lines. */
  #lines(bytes: Buffer, joined: boolean, found: Candidate[]): void {
    let plainFrom = 0;
    let at = 0;
    while (at < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, at);
      const end = newline < 0 ? bytes.length : newline;
      const inside: Candidate[] = [];
      const isJson = (bytes[at] === 0x7b || bytes[at] === 0x5b) && this.#strings(bytes, at, end, inside);
      if (isJson || !joined) this.#text(bytes, plainFrom, isJson ? at : end, found);
      if (isJson) for (const one of inside) found.push(one);
      if (isJson || !joined) plainFrom = end + 1;
      at = end + 1;
    }
    this.#text(bytes, plainFrom, bytes.length, found);
  }

  #json(bytes: Buffer, from: number, to: number, found: Candidate[]): void {
    if (this.#strings(bytes, from, to, found)) return;
    found.length = 0;
    this.#text(bytes, from, to, found);
  }

  #strings(bytes: Buffer, from: number, to: number, found: Candidate[]): boolean {
    let name = NO_KEY;
    let option = NO_KEY;
    const visit = (value: StringValue) => {
      const key = value.keyEnd > value.keyStart ? this.#keys.of(bytes, value.keyStart, value.keyEnd) : NO_KEY;
      // { "name": "API_KEY", "value": "…" } and ["--token", "…"]
      const named = key === NO_KEY ? option : key.text === "value" ? name : key;
      name = key.text === "name" || key.text === "key" ? this.#nameIn(bytes, value) : NO_KEY;
      option = key === NO_KEY && bytes[value.start] === 0x2d ? this.#nameIn(bytes, value) : NO_KEY;
      this.#string(bytes, value, key.field, named, found);
      if (key.text === "kind" || key.text === "type") declared(value.start - 1, value.end + 1);
    };
    // The value that an object declares to be secret is separate from the declaration.
    const declared = (start: number, end: number) => {
      if (start < read || !DECLARED_BY.test(bytes.toString("latin1", start, Math.min(end, start + MAX_NAME)))) return;
      const isKind = bytes[start + 1] === 0x53;
      const around = declaredAround(
        bytes,
        Math.max(from, read),
        isKind ? start : start + 1,
        isKind ? end : end - 1,
        to,
      );
      read = around.end;
      for (const span of around.spans) found.push({ rule: "secret", ...span, weight: WEIGHT.named });
    };
    let read = from;
    return eachString(bytes, from, to, visit, (start, end) => {
      this.#key(bytes, start, end, found);
      const { declares } = this.#keys.of(bytes, start, end);
      if (declares === "secrets") declared(start - 1, end + 1);
      if (declares !== "codes") return;
      for (const span of codesAfter(bytes, end, to))
        found.push({ rule: "recovery-code", ...span, weight: WEIGHT.named });
    });
  }

  /** A value that is itself a name. */
  #nameIn(bytes: Buffer, { start, end }: StringValue): Key {
    if (end - start > MAX_NAME) return NO_KEY;
    for (let i = start; i < end; i++) if (!isWord(bytes[i]) && bytes[i] !== 0x2d && bytes[i] !== 0x2e) return NO_KEY;
    return this.#keys.of(bytes, start, end);
  }

  /** A key is often a path, and explains its value: only what must be a secret is redacted. */
  #key(bytes: Buffer, start: number, end: number, found: Candidate[]): void {
    if (end - start < MIN_KEY && this.#known.length === 0) return;
    const look = (...stretch: [Buffer, number, number]) => {
      const shapes = this.#scanner.scan(...stretch, LOOSE);
      return [...shapes.filter(({ weight }) => weight >= WEIGHT.address), ...knownIn(this.#known, ...stretch)];
    };
    const first = look(bytes, start, end);
    if (first.length === 0) return;
    for (const one of lookUntilStable(bytes, start, end, this.#again, first, look)) found.push(one);
  }

  #string(bytes: Buffer, value: StringValue, field: Field, key: Key, found: Candidate[]): void {
    const { start, end } = value;
    const isShort = key.secret !== undefined || this.#custom !== undefined || this.#known.length > 0;
    if (end - start < (isShort ? MIN_PASSWORD : SHORTEST)) return;
    if (field === "opaque" && isOpaque(bytes, start, end)) return;
    const text = value.escaped ? this.#room(end - start) : bytes;
    const from = value.escaped ? 0 : start;
    const to = value.escaped ? withoutEscapes(bytes, start, end, text) : end;
    const options = field === "id" ? NOT_RANDOM : RANDOM;
    const told = field === "id" ? NO_KEY : key;
    const first = this.#look(text, from, to, options, told);
    if (first.length === 0) return;
    const inside = lookUntilStable(text, from, to, this.#again, first, (...stretch) =>
      this.#look(...stretch, options, told),
    );
    for (const one of value.escaped ? toRaw(bytes, start, end, inside) : inside) found.push(one);
  }

  #text(bytes: Buffer, from: number, to: number, found: Candidate[]): void {
    if (from >= to) return;
    const look = (...stretch: [Buffer, number, number]) => this.#look(...stretch, RANDOM, NO_KEY);
    for (const one of lookUntilStable(bytes, from, to, this.#again, look(bytes, from, to), look)) found.push(one);
  }

  #look(bytes: Buffer, from: number, to: number, options: ScanOptions, key: Key): Candidate[] {
    const found = this.#scanner.scan(bytes, from, to, options);
    if (key.secret) found.push(...ofKey(bytes, from, to, key.secret, key.constant));
    const near = key.near.length > 0 ? nearAt(key.near, bytes, from, to) : undefined;
    if (near) found.push(near);
    if (this.#known.length > 0) found.push(...knownIn(this.#known, bytes, from, to));
    if (!this.#custom) return found;
    return allowed(this.#custom, bytes, [...found, ...this.#custom.find(bytes, from, to)]);
  }

  #room(size: number): Buffer {
    if (this.#scratch.length < size) this.#scratch = Buffer.alloc(size * 2);
    return this.#scratch;
  }
}

/** Redacts the value of a key that names a secret, or the secret part of a header. */
function ofKey(text: Buffer, start: number, end: number, kind: SecretKind, constant: boolean): Candidate[] {
  const named = (rule: string, spans: Span[]) => spans.map((span) => ({ rule, ...span, weight: WEIGHT.named }));
  if (kind === "cookie") return named("session", cookiesIn(text, start, end).spans);
  if (kind === "authorization") {
    const span = authorizationAt(text, start, end);
    return named("authorization", span ? [span] : []);
  }
  const assigned = { start, end, quoted: true, tight: constant, constant, inCode: false };
  return holdsSecret(text, assigned, kind) ? named(RULE_OF[kind], [{ start, end }]) : [];
}

/** Finds known values that appear as separate words. */
function knownIn(known: readonly Secret[], bytes: Buffer, from: number, to: number): Candidate[] {
  const found: Candidate[] = [];
  for (const { rule, value } of known) {
    const wanted = Buffer.from(value, "latin1");
    const stretch = bytes.subarray(from, to);
    for (let at = stretch.indexOf(wanted); at >= 0; at = stretch.indexOf(wanted, at + wanted.length)) {
      const [start, end] = [from + at, from + at + wanted.length];
      const isApart = (start === from || !isLetter(bytes[start - 1])) && (end === to || !isLetter(bytes[end]));
      // The name that the text gives the value is more specific.
      if (isApart) found.push({ rule, start, end, weight: rule === NAME_RULE ? WEIGHT.name : WEIGHT.named });
    }
  }
  return found;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== 0x5f && isWord(byte);
}

function allowed(custom: Custom, bytes: Buffer, candidates: Candidate[]): Candidate[] {
  return candidates.filter(({ start, end }) => !custom.allows(bytes.toString("utf8", start, end)));
}

/** Maps offsets in the unescaped string to offsets in the file. */
function toRaw(bytes: Buffer, start: number, end: number, inside: Candidate[]): Candidate[] {
  const raw = rawOffsets(
    bytes,
    start,
    end,
    inside.flatMap((one) => [one.start, one.end]),
  );
  return inside.map((one, index) => ({
    ...one,
    start: raw[index * 2] as number,
    end: raw[index * 2 + 1] as number,
  }));
}

function replaced(bytes: Buffer, candidates: Candidate[], placeholders: Placeholders): Redacted {
  if (candidates.length === 0) return { bytes, found: [] };
  const names = placeholders.assign(
    candidates.map(({ rule, start, end }) => ({ rule, value: bytes.toString("latin1", start, end) })),
  );
  const parts: Buffer[] = [];
  let at = 0;
  const found = candidates.map(({ rule, start, end }, index): Finding => {
    const placeholder = names[index] as string;
    parts.push(bytes.subarray(at, start), Buffer.from(placeholder));
    at = end;
    return { rule, start, end, placeholder };
  });
  parts.push(bytes.subarray(at));
  return { bytes: Buffer.concat(parts), found };
}

/** True if the text begins like JSON and continues on the next line, so it is not a list of records. */
function isOneJson(bytes: Buffer): boolean {
  const first = bytes[0];
  if (first !== 0x7b && first !== 0x5b) return false;
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) return true;
  const last = bytes.subarray(0, end).toString("latin1").trimEnd().at(-1);
  return last === "{" || last === "[" || last === ",";
}
