/**
 * Full-text search over prompts, names of files and messages, newest month first. Each month is searched by itself
 * until there are enough hits, so that a common word costs no more than the newest months that have it.
 */
import type { SearchHit } from "../../team/protocol.ts";
import type { Query } from "../database/connect.ts";
import { dayOf } from "../ingest/store.ts";
import { searchQuery } from "../ingest/words.ts";
import { TURN_FIELDS, TURN_JOINS, type TurnRow, visibleTurn } from "./turns.ts";

export interface SearchFilter {
  text: string;
  repository?: string | undefined;
  person?: string | undefined;
  agent?: string | undefined;
  limit: number;
}

const SNIPPET = 240;

interface HitRow extends TurnRow {
  field: SearchHit["field"];
  found: string;
}

/** The id of a hit's turn is `<session>-<number>`, as on the page. */
export async function search(query: Query, filter: SearchFilter): Promise<(SearchHit & { id: string })[]> {
  const words = searchQuery(filter.text);
  if (words === null) return [];
  const months = await query<{ month: Date }>("SELECT DISTINCT month FROM sessions ORDER BY month DESC");
  const hits: (SearchHit & { id: string })[] = [];
  for (const { month } of months) {
    const rows = await searchMonth(query, dayOf(month), words, { ...filter, limit: filter.limit - hits.length });
    hits.push(
      ...rows.map((row) => ({
        ...visibleTurn(row),
        id: `${row.session_id}-${row.number}`,
        field: row.field,
        snippet: snippetOf(row.found, filter.text),
      })),
    );
    if (hits.length >= filter.limit) break;
  }
  return hits;
}

/** One hit per turn: its prompt if that matches, else the first message that does. */
function searchMonth(query: Query, month: string, words: string, filter: SearchFilter): Promise<HitRow[]> {
  return query<HitRow>(
    `SELECT ${TURN_FIELDS}, coalesce(m.kind, 'prompt') AS field,
       CASE WHEN b.position = -1 THEN concat_ws(E'\\n', x.prompt, array_to_string(x.paths, E'\\n')) ELSE m.text END AS found
     FROM matching($1::date, $2::tsquery, $3, $4, $5, $6::integer) b
     JOIN turns t ON t.month = $1::date AND t.session_id = b.session_id AND t.number = b.number ${TURN_JOINS}
     LEFT JOIN messages m ON b.position >= 0 AND m.month = $1::date AND m.session_id = b.session_id
       AND m.number = b.number AND m.position = b.position
     ORDER BY b.started_at DESC, b.session_id DESC, b.number DESC`,
    month,
    words,
    filter.repository ?? null,
    filter.person ?? null,
    filter.agent ?? null,
    filter.limit,
  );
}

/** The part of a text around the first word of the query. */
function snippetOf(found: string | null, wanted: string): string {
  const text = (found ?? "").replace(/\s+/g, " ").trim();
  const [first = ""] = wanted.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const at = Math.max(0, text.toLowerCase().indexOf(first));
  const start = Math.max(0, Math.min(at - SNIPPET / 4, text.length - SNIPPET));
  const part = text.slice(start, start + SNIPPET);
  return `${start > 0 ? "…" : ""}${part}${start + SNIPPET < text.length ? "…" : ""}`;
}
