/** Takes secrets out of texts and transcripts, and says what it took. */
import { asBuffer } from "../lines.ts";
import { holdsSecret, type NameKind } from "./assignment.ts";
import { NEWLINE } from "./bytes.ts";
import type { Custom } from "./custom.ts";
import { type Field, isOpaque, Keys, keyOf, NO_KEY } from "./fields.ts";
import { eachString, rawOffsets, type StringValue, withoutEscapes } from "./json.ts";
import { type Placeholders, placeholdersIn } from "./placeholders.ts";
import { type Candidate, Scanner, settle, WEIGHT } from "./scan.ts";
import { lookUntilStable } from "./stable.ts";

export interface RedactionSettings {
  /** The user's own patterns (`redaction.rules`). */
  rules?: readonly string[];
  /** What looks secret and is not (`redaction.allow`): texts, or patterns for the whole of them. */
  allow?: readonly string[];
}

export interface RedactOptions {
  placeholders: Placeholders;
  /**
   * `jsonl`: every line for itself, JSON where it is JSON. `json`: one JSON text. `text`: anything else. Without:
   * JSON if it is, otherwise line by line.
   */
  format?: "jsonl" | "json" | "text";
  /**
   * The input has been redacted before: its placeholders stay. Otherwise what reads like one is an accident, and
   * gets a placeholder of its own, so that the way back is exact.
   */
  again?: boolean;
}

export interface Finding {
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
}

/** Shorter values hold no secret: there is no room for a name, an operator and a password. */
const SHORTEST = 12;
const SHORTEST_PASSWORD = 6;

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
  };
}

class Finder {
  readonly #scanner: Scanner;
  readonly #custom: Custom | undefined;
  readonly #keys = new Keys();
  #scratch = Buffer.alloc(64 * 1024);
  #again = false;

  constructor(scanner: Scanner, custom: Custom | undefined) {
    this.#scanner = scanner;
    this.#custom = custom;
  }

  find(bytes: Buffer, { format, again }: RedactOptions): Candidate[] {
    const found: Candidate[] = [];
    this.#again = again ?? false;
    if (format === "text") this.#text(bytes, 0, bytes.length, found);
    else if (format === "json" || (format === undefined && isOneJson(bytes))) this.#json(bytes, 0, bytes.length, found);
    else this.#lines(bytes, format === undefined, found);
    const literals = again ? [] : [...placeholdersIn(bytes)];
    return settle([
      ...found,
      ...literals.map(({ start, end }) => ({ rule: "literal", weight: WEIGHT.literal, start, end })),
    ]);
  }

  /** Every line for itself, or (`joined`) those that are no JSON together, as the lines of a key are. */
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
    return eachString(bytes, from, to, (value) => {
      const key = value.keyEnd > value.keyStart ? this.#keys.of(bytes, value.keyStart, value.keyEnd) : NO_KEY;
      // { "name": "API_KEY", "value": "…" }
      const named = key.text === "value" ? name : key;
      const isName = (key.text === "name" || key.text === "key") && value.end - value.start < 80;
      name = isName ? keyOf(bytes.toString("latin1", value.start, value.end)) : NO_KEY;
      this.#string(bytes, value, key.field, named.secret, found);
    });
  }

  #string(bytes: Buffer, value: StringValue, field: Field, secret: NameKind | undefined, found: Candidate[]): void {
    const { start, end } = value;
    if (end - start < (secret || this.#custom ? SHORTEST_PASSWORD : SHORTEST)) return;
    if (field === "opaque" && isOpaque(bytes, start, end)) return;
    const text = value.escaped ? this.#room(end - start) : bytes;
    const from = value.escaped ? 0 : start;
    const to = value.escaped ? withoutEscapes(bytes, start, end, text) : end;
    const inside = lookUntilStable(text, from, to, this.#again, (...stretch) =>
      this.#look(stretch, field !== "id", field !== "id" ? secret : undefined),
    );
    if (inside.length === 0) return;
    for (const one of value.escaped ? toRaw(bytes, start, end, inside) : inside) found.push(one);
  }

  #text(bytes: Buffer, from: number, to: number, found: Candidate[]): void {
    if (from >= to) return;
    const inside = lookUntilStable(bytes, from, to, this.#again, (...stretch) => this.#look(stretch, true, undefined));
    for (const one of inside) found.push(one);
  }

  #look(stretch: [Buffer, number, number], random: boolean, secret: NameKind | undefined): Candidate[] {
    const found = this.#scanner.scan(...stretch, random);
    if (secret) found.push(...ofKey(...stretch, secret));
    if (!this.#custom) return found;
    return allowed(this.#custom, stretch[0], [...found, ...this.#custom.find(...stretch)]);
  }

  #room(size: number): Buffer {
    if (this.#scratch.length < size) this.#scratch = Buffer.alloc(size * 2);
    return this.#scratch;
  }
}

/** The whole value of a key that says «secret». */
function ofKey(text: Buffer, start: number, end: number, kind: NameKind): Candidate[] {
  const assigned = { start, end, quoted: true, tight: false, constant: false, inCode: false };
  return holdsSecret(text, assigned, kind) ? [{ rule: kind, start, end, weight: WEIGHT.named }] : [];
}

function allowed(custom: Custom, bytes: Buffer, candidates: Candidate[]): Candidate[] {
  return candidates.filter(({ start, end }) => !custom.allows(bytes.toString("utf8", start, end)));
}

/** From bytes of the unescaped string to bytes of the file. */
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

/** Begins like JSON and goes on over several lines, so that it is no list of records. */
function isOneJson(bytes: Buffer): boolean {
  const first = bytes[0];
  if (first !== 0x7b && first !== 0x5b) return false;
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) return true;
  const last = bytes.subarray(0, end).toString("latin1").trimEnd().at(-1);
  return last === "{" || last === "[" || last === ",";
}
