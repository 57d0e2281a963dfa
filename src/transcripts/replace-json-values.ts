/** Replaces values in JSON bytes without parsing, so that a 100 MB transcript is only copied. */

/**
 * Replaces the string `from` with `to` wherever it is the value of one of the keys. Quotes inside a string are escaped,
 * so a match is always a real key and never part of a text.
 */
export function withValue(parts: readonly Buffer[], keys: readonly string[], from: string, to: string): Buffer[] {
  let result = [...parts];
  for (const key of keys) {
    const old = Buffer.from(`"${key}":${JSON.stringify(from)}`);
    const replacement = Buffer.from(`"${key}":${JSON.stringify(to)}`);
    result = result.flatMap((part) => replaced(part, old, replacement));
  }
  return result;
}

function replaced(bytes: Buffer, old: Buffer, replacement: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(old); at >= 0; at = bytes.indexOf(old, from)) {
    parts.push(bytes.subarray(from, at), replacement);
    from = at + old.length;
  }
  parts.push(bytes.subarray(from));
  return parts;
}
