/** The JSON of a hit, as docs/search.md specifies it. */
import type { SearchHit } from "../../../api/search.ts";

export function hitJson({ matches, title, subagent, ...hit }: SearchHit) {
  return { ...hit, matches: matches.map(({ start, end }) => [start, end]), title, subagent };
}
