/** What every wire protocol does with JSON that may be of any kind, and with text that it sends in pieces. */
export type Json = Record<string, unknown>;

export function object(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Text that is JSON, or the text itself. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Pieces of at most `size` characters, never through the middle of one. */
export function cut(text: string, size: number): string[] {
  const characters = [...text];
  const result: string[] = [];
  for (let at = 0; at < characters.length; at += size) result.push(characters.slice(at, at + size).join(""));
  return result;
}
