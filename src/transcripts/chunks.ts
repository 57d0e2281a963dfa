/**
 * Splits a JSONL transcript into chunks of bounded size: `<base>`, `<base>.001`, `<base>.002`, … Cuts are at line ends,
 * so each chunk is valid JSONL and their concatenation is the original, byte for byte.
 */
import { asBuffer } from "./lines.ts";

export const MAX_CHUNK = 50 * 1024 * 1024;
const NEWLINE = 10;

/** Returns nonempty views into `bytes`. A single line beyond the limit gets its own chunk instead of being split. */
export function splitLines(bytes: Uint8Array, limit: number = MAX_CHUNK): Uint8Array[] {
  const buffer = asBuffer(bytes);
  const chunks: Uint8Array[] = [];
  let start = 0;
  while (start < buffer.length) {
    const end = chunkEnd(buffer, start, Math.max(1, limit));
    chunks.push(bytes.subarray(start, end));
    start = end;
  }
  return chunks;
}

/** Joins chunks in order. Adds a missing final newline to every chunk but the last. */
export function joinLines(chunks: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const given = chunks.filter((chunk) => chunk.length > 0);
  given.forEach((chunk, i) => {
    parts.push(chunk);
    if (i < given.length - 1 && chunk.at(-1) !== NEWLINE) parts.push(Uint8Array.of(NEWLINE));
  });
  return Buffer.concat(parts);
}

export function chunkName(base: string, index: number): string {
  return index === 0 ? base : `${base}.${String(index).padStart(3, "0")}`;
}

/** The file names that are chunks of `base`, in order, up to the first gap. */
export function chunkNames(base: string, names: Iterable<string>): string[] {
  const present = new Set(names);
  const row: string[] = [];
  while (present.has(chunkName(base, row.length))) row.push(chunkName(base, row.length));
  return row;
}

function chunkEnd(buffer: Buffer, start: number, limit: number): number {
  if (buffer.length - start <= limit) return buffer.length;
  const lastInside = buffer.lastIndexOf(NEWLINE, start + limit - 1);
  if (lastInside >= start) return lastInside + 1;
  const next = buffer.indexOf(NEWLINE, start + limit);
  return next < 0 ? buffer.length : next + 1;
}
