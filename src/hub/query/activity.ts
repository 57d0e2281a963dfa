/** Counts of turns by day, repository and agent: what every level of sharing shows. */
import type { ActivityRow } from "../../team/protocol.ts";
import type { Query } from "../database/connect.ts";

export interface ActivityFilter {
  /** The first and the last day, in UTC. */
  from: string;
  to: string;
  repository?: string | undefined;
}

const MAX_ROWS = 10_000;

interface Row extends Omit<ActivityRow, "tokens"> {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
}

/** Newest day first. */
export async function activity(query: Query, filter: ActivityFilter): Promise<ActivityRow[]> {
  const rows = await query<Row>(
    `SELECT to_char(c.day, 'YYYY-MM-DD') AS day, r.name AS repository, c.agent, c.turns, c.people, c.files, c.undone,
       c.input, c.output, c.cache_read, c.cache_write, c.usd
     FROM (
       SELECT day, repository_id, agent,
         sum(turns)::float8 AS turns, count(person_id)::float8 AS people, sum(files)::float8 AS files,
         sum(undone)::float8 AS undone, sum(input_tokens)::float8 AS input, sum(output_tokens)::float8 AS output,
         sum(cache_read_tokens)::float8 AS cache_read, sum(cache_write_tokens)::float8 AS cache_write,
         CASE WHEN sum(usd_turns) > 0 THEN sum(usd)::float8 END AS usd
       FROM day_counts
       WHERE day BETWEEN $1::date AND $2::date
         AND ($3::text IS NULL OR repository_id = (SELECT id FROM repositories WHERE name = $3))
       GROUP BY 1, 2, 3
     ) c JOIN repositories r ON r.id = c.repository_id
     ORDER BY c.day DESC, r.name, c.agent LIMIT ${MAX_ROWS}`,
    filter.from,
    filter.to,
    filter.repository ?? null,
  );
  return rows.map(({ input, output, cache_read, cache_write, ...row }) => ({
    ...row,
    tokens: { input, output, cacheRead: cache_read, cacheWrite: cache_write },
  }));
}
