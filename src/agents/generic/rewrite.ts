/** One text of a JSON line replaced, and every other character left as the agent wrote it. */
import { isDeepStrictEqual } from "node:util";
import { leafAt } from "../paths.ts";

/** `path` must lead to a text. */
export function withText(line: string, path: string, replacement: string): string {
  const wanted: unknown = JSON.parse(line);
  const leaf = leafAt(wanted, path);
  if (!leaf) return line;
  const old = leaf.parent[leaf.name];
  leaf.parent[leaf.name] = replacement;
  const needle = JSON.stringify(old);
  for (let at = line.indexOf(needle); at >= 0; at = line.indexOf(needle, at + 1)) {
    const tried = line.slice(0, at) + JSON.stringify(replacement) + line.slice(at + needle.length);
    if (says(tried, wanted)) return tried;
  }
  // Written with escapes of its own: then the line is written anew.
  return JSON.stringify(wanted);
}

function says(line: string, value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(line), value);
  } catch {
    return false;
  }
}
