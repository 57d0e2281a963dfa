/** Values put in place of others in JSON, on its bytes: a transcript of 100 MB is copied, not parsed. */

/**
 * Wherever one of the keys has the string `from`, it has `to`. In a string a quotation mark is escaped, so a match is
 * always a key and never somebody's words.
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
