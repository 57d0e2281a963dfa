/** Search on the page: as in the API, with the parts that match marked. */
import { fold } from "../../search/words/split.ts";
import type { SearchAnswer, SearchHit } from "../../view/protocol.ts";
import { search } from "../query/search.ts";
import type { Asked } from "./queries.ts";

const MAX_LIMIT = 100;
const FIELDS = { prompt: "prompt", answer: "answer", "tool-use": "command", "tool-result": "output" } as const;

export async function searchPage({ query, parameters, repository }: Asked): Promise<SearchAnswer> {
  const text = parameters.required("q").slice(0, 500);
  const [chosen] =
    repository === null
      ? []
      : await query<{ name: string }>("SELECT name FROM repositories WHERE id = $1::integer", repository);
  if (repository !== null && !chosen) return { available: true, hits: [], total: 0, pending: 0 };
  const limit = Math.max(1, parameters.number("limit", 30, MAX_LIMIT));
  const found = await search(query, { text, repository: chosen?.name, limit });
  const hits = found.map(
    (hit): SearchHit => ({
      id: hit.id,
      session: hit.id.slice(0, hit.id.indexOf("-")),
      agent: hit.agent,
      person: hit.person,
      repository: hit.repository,
      repositoryId: null,
      turn: hit.turn,
      time: hit.endedAt ?? hit.startedAt,
      field: FIELDS[hit.field],
      snippet: marked(hit.snippet, text),
      path: null,
      fate: { state: hit.status, commit: null, check: null },
    }),
  );
  return { available: true, hits, total: hits.length, pending: 0 };
}

/** Encloses every occurrence of a word between U+0001 and U+0002. */
function marked(snippet: string, text: string): string {
  const words = [...new Set(fold(text).match(/[\p{L}\p{N}_$]+/gu))];
  const plain = snippet.replaceAll("\u0001", "").replaceAll("\u0002", "");
  if (words.length === 0) return plain;
  const pattern = words.map((word) => word.replaceAll("$", "\\$")).join("|");
  return plain.replace(new RegExp(pattern, "giu"), "\u0001$&\u0002");
}
