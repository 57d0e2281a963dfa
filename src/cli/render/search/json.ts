/** The JSON of a hit, as docs/search.md specifies it. */
import type { FoundHit } from "../../../search/results/search.ts";

export function hitJson({ matches, title, subagent, document: _, ...hit }: FoundHit) {
  return { ...hit, matches: matches.map(({ start, end }) => [start, end]), title, subagent };
}
