/** Turns as a person may see them. Row-level security decides, not these queries: they only choose and order. */
import type { Page, VisibleTurn } from "../../team/protocol.ts";
import type { Query } from "../database/connect.ts";

export interface TurnFilter {
  repository?: string | undefined;
  person?: string | undefined;
  agent?: string | undefined;
  after?: string | undefined;
  limit: number;
}

export interface TurnRow {
  repository: string;
  person: string | null;
  agent: string;
  session: string | null;
  number: number;
  started_at: Date;
  ended_at: Date | null;
  model: string | null;
  status: VisibleTurn["status"];
  file_count: number;
  input_tokens: string | null;
  output_tokens: string | null;
  cache_read_tokens: string | null;
  cache_write_tokens: string | null;
  prompt: string | null;
  paths: string[] | null;
  checkpoints: string[] | null;
  session_id: string;
}

/** Joins what every answer about turns shows. A text that may not be read joins as null. */
export const TURN_FIELDS = `
  r.name AS repository, p.name AS person, t.agent, x.session, t.number, t.started_at, t.ended_at, t.model, t.status,
  t.file_count, t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, x.prompt, x.paths,
  x.checkpoints, t.session_id::text`;
export const TURN_JOINS = `
  JOIN repositories r ON r.id = t.repository_id
  LEFT JOIN people p ON p.id = t.person_id
  LEFT JOIN turn_texts x ON x.month = t.month AND x.session_id = t.session_id AND x.number = t.number`;

/** Newest first. */
export async function listTurns(query: Query, filter: TurnFilter): Promise<Page<VisibleTurn>> {
  const after = parseCursor(filter.after);
  const rows = await query<TurnRow>(
    `SELECT ${TURN_FIELDS} FROM turns t ${TURN_JOINS}
     WHERE ($1::text IS NULL OR t.repository_id = (SELECT id FROM repositories WHERE name = $1))
       AND ($2::text IS NULL OR t.person_id = (SELECT id FROM people WHERE name = $2)) AND ($3::text IS NULL OR t.agent = $3)
       AND ($4::timestamptz IS NULL OR (t.started_at, t.session_id, t.number) < ($4, $5::bigint, $6::integer))
     ORDER BY t.started_at DESC, t.session_id DESC, t.number DESC LIMIT $7::integer`,
    filter.repository ?? null,
    filter.person ?? null,
    filter.agent ?? null,
    after?.time ?? null,
    after?.session ?? "0",
    after?.number ?? 0,
    filter.limit + 1,
  );
  const items = rows.slice(0, filter.limit);
  const last = items.at(-1);
  return { items: items.map(visibleTurn), next: rows.length > filter.limit && last ? cursorOf(last) : null };
}

/** The turns behind a checkpoint, oldest first. */
export async function turnsOfCheckpoint(query: Query, checkpoint: string, limit: number): Promise<VisibleTurn[]> {
  const rows = await query<TurnRow>(
    `SELECT ${TURN_FIELDS} FROM turns_in_checkpoint($1) f
     JOIN turns t ON t.month = f.month AND t.session_id = f.session_id AND t.number = f.number ${TURN_JOINS}
     WHERE x.checkpoints IS NOT NULL ORDER BY t.started_at, t.session_id, t.number LIMIT $2::integer`,
    checkpoint,
    limit,
  );
  return rows.map(visibleTurn);
}

export function visibleTurn(row: TurnRow): VisibleTurn {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = row;
  return {
    repository: row.repository,
    person: row.person,
    agent: row.agent,
    session: row.session,
    turn: row.number,
    startedAt: row.started_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    model: row.model,
    status: row.status,
    fileCount: row.file_count,
    tokens:
      input_tokens === null
        ? null
        : {
            input: Number(input_tokens),
            output: Number(output_tokens),
            cacheRead: Number(cache_read_tokens),
            cacheWrite: Number(cache_write_tokens),
          },
    prompt: row.prompt,
    paths: row.paths && [...row.paths],
    checkpoints: row.checkpoints && [...row.checkpoints],
  };
}

interface Cursor {
  time: string;
  session: string;
  number: number;
}

/** The position after a row, in microseconds as PostgreSQL has them only if JavaScript does too: times are from clients. */
export function cursorOf({ started_at, session_id, number }: TurnRow): string {
  return Buffer.from(`${started_at.toISOString()} ${session_id} ${number}`).toString("base64url");
}

/** Undefined for a missing or invalid cursor: the list then starts at its beginning. */
export function parseCursor(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined;
  const [, time = "", session = "", number = ""] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\d{1,18}) (\d{1,9})$/.exec(Buffer.from(text, "base64url").toString()) ??
    [];
  return time === "" || Number.isNaN(Date.parse(time)) ? undefined : { time, session, number: Number(number) };
}
