/** Counts planted needles that are found as they should be: once, in their field. */
import { type Corpus, NEEDLE_FIELDS } from "../corpus.ts";
import { started } from "./program.ts";

interface Hit {
  field: string;
  snippet: string;
  matches: [number, number][];
}

export async function needlesFound(place: string, needles: Corpus["needles"]): Promise<number> {
  let count = 0;
  for (const field of NEEDLE_FIELDS) {
    const { stdout } = await started(place, "--json", "--limit", "0", `needle${field}*`);
    const { hits } = JSON.parse(stdout) as { hits: Hit[] };
    const fields = Map.groupBy(hits.flatMap(wordsOf), ({ word }) => word);
    const wanted = needles.filter((needle) => needle.field === field);
    count += wanted.filter(
      ({ word }) =>
        fields
          .get(word)
          ?.map((one) => one.field)
          .join() === field,
    ).length;
  }
  return count;
}

function wordsOf({ field, snippet, matches }: Hit): { word: string; field: string }[] {
  return matches.map(([start, end]) => ({ word: snippet.slice(start, end), field }));
}
