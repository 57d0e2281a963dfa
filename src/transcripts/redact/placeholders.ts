/** Placeholders such as `[secret:aws-access-key:1]` that replace secrets, and their restoration. */
import { asBuffer } from "../lines.ts";

/** A secret as in the file, including escapes, one character per byte (latin1), so that restoring it is exact. */
export interface Secret {
  rule: string;
  value: string;
}

export interface Placeholders {
  /** Returns a placeholder for each secret; equal values get the same placeholder. */
  assign(secrets: readonly Secret[]): string[];
  /** The value behind a placeholder of this store. */
  valueOf(placeholder: string): string | undefined;
  /** All secrets with a placeholder. */
  secrets(): Secret[];
}

/** How every placeholder begins. */
export const OPENING = "[secret:";
const PATTERN = /^\[secret:[a-z0-9-]{1,64}:[1-9]\d{0,8}\]/;
const LONGEST = OPENING.length + 76;

export function placeholderFor(rule: string, number: number): string {
  return `${OPENING}${rule}:${number}]`;
}

/** Yields the byte range of every text that looks like a placeholder. */
export function* placeholdersIn(bytes: Buffer): Generator<{ start: number; end: number; text: string }> {
  for (let start = bytes.indexOf(OPENING); start >= 0; start = bytes.indexOf(OPENING, start + 1)) {
    const match = PATTERN.exec(bytes.toString("latin1", start, Math.min(bytes.length, start + LONGEST)));
    if (match) yield { start, end: start + match[0].length, text: match[0] };
  }
}

/**
 * Restores the secrets, byte for byte. Only for text that this store redacted: other text could name placeholders in
 * order to obtain secrets.
 */
export function restorePlaceholders(input: Uint8Array | string, placeholders: Pick<Placeholders, "valueOf">): Buffer {
  const bytes = typeof input === "string" ? Buffer.from(input) : asBuffer(input);
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of placeholdersIn(bytes)) {
    const value = placeholders.valueOf(text);
    if (value === undefined) continue;
    parts.push(bytes.subarray(at, start), Buffer.from(value, "latin1"));
    at = end;
  }
  parts.push(bytes.subarray(at));
  return Buffer.concat(parts);
}

/** An in-memory table that numbers placeholders per rule, starting at 1. */
export class PlaceholderTable implements Placeholders {
  readonly #byValue = new Map<string, string>();
  readonly #byPlaceholder = new Map<string, string>();
  readonly #last = new Map<string, number>();

  assign(secrets: readonly Secret[]): string[] {
    return secrets.map((secret) => this.find(secret) ?? this.add(secret));
  }

  find({ rule, value }: Secret): string | undefined {
    return this.#byValue.get(`${rule}\0${value}`);
  }

  add({ rule, value }: Secret): string {
    const placeholder = placeholderFor(rule, (this.#last.get(rule) ?? 0) + 1);
    this.put(placeholder, { rule, value });
    return placeholder;
  }

  /** Adds a placeholder from a file. Reserves its number even if its value could not be read. */
  put(placeholder: string, secret: Secret | undefined): void {
    const parts = /^\[secret:([a-z0-9-]+):(\d+)\]$/.exec(placeholder);
    if (!parts) return;
    const [, rule = "", number] = parts;
    this.#last.set(rule, Math.max(this.#last.get(rule) ?? 0, Number(number)));
    if (!secret) return;
    this.#byPlaceholder.set(placeholder, secret.value);
    const key = `${rule}\0${secret.value}`;
    if (!this.#byValue.has(key)) this.#byValue.set(key, placeholder);
  }

  valueOf(placeholder: string): string | undefined {
    return this.#byPlaceholder.get(placeholder);
  }

  secrets(): Secret[] {
    return [...this.#byPlaceholder].map(([placeholder, value]) => ({ rule: placeholder.split(":")[1] ?? "", value }));
  }
}
