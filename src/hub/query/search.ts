/**
 * Full-text search over prompts, names of files and messages, newest month first. One hit per turn: its prompt if that
 * matches, else the first message that does.
 */
import type { SearchHit } from "../../team/protocol.ts";
import type { Query } from "../database/connect.ts";
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
  const rows = await query<HitRow>(
    `SELECT ${TURN_FIELDS}, coalesce(m.kind, 'prompt') AS field,
       CASE WHEN b.position = -1 THEN concat_ws(E'\\n', x.prompt, array_to_string(x.paths, E'\\n')) ELSE m.text END AS found
     FROM matching($1::tsquery, $2, $3, $4, $5::integer) WITH ORDINALITY AS b(month, session_id, number, position, place)
     JOIN turns t ON t.month = b.month AND t.session_id = b.session_id AND t.number = b.number ${TURN_JOINS}
     LEFT JOIN messages m ON b.position >= 0 AND m.month = b.month AND m.session_id = b.session_id
       AND m.number = b.number AND m.position = b.position
     ORDER BY b.place`,
    words,
    filter.repository ?? null,
    filter.person ?? null,
    filter.agent ?? null,
    filter.limit,
  );
  return rows.map((row) => ({
    ...visibleTurn(row),
    id: `${row.session_id}-${row.number}`,
    field: row.field,
    snippet: snippetOf(row.found, filter.text),
  }));
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
