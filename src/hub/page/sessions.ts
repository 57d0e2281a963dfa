/** Sessions of the page, and their conversations as far as the person may read them. */
import type { ConversationEntry, Queries, SessionRow, SessionTurn } from "../../view/protocol.ts";
import { TURN_JOINS } from "../query/turns.ts";
import { NotThere } from "./not-there.ts";
import type { Asked } from "./queries.ts";
import { entryOf, FIELDS, type Row, sessionId, turnRow } from "./turns.ts";

/** The list has the sessions of this many newest turns. */
const NEWEST_TURNS = 2_000;
const MAX_TURNS = 5_000;
const MAX_LIMIT = 500;

export async function sessions({ query, repository }: Asked): Promise<Queries["sessions"]["answer"]> {
  const rows = await query<Row>(
    `SELECT ${FIELDS} FROM turns t ${TURN_JOINS} WHERE ($1::integer IS NULL OR t.repository_id = $1::integer)
     ORDER BY t.started_at DESC, t.session_id DESC, t.number DESC LIMIT ${NEWEST_TURNS}`,
    repository,
  );
  return { sessions: [...Map.groupBy(rows, ({ session_id }) => session_id).values()].flatMap(sessionRow) };
}

export async function session(asked: Asked): Promise<Queries["session"]["answer"]> {
  const rows = await turnsOf(asked, asked.parameters.required("id"));
  const [row] = sessionRow(rows);
  if (!row) throw new NotThere();
  const counts = await messageCounts(asked, row.id);
  const turns: SessionTurn[] = [];
  let entries = 0;
  for (const one of [...rows].reverse()) {
    const { id, number, prompt, startedAt, endedAt, fate, tokens, cost } = turnRow(one);
    const entry = one.prompt === null ? null : entries;
    entries += (one.prompt === null ? 0 : 1) + (counts.get(number) ?? 0);
    turns.push({ number, prompt, id, entry, startedAt, endedAt, fate, tokens, cost, context: null });
  }
  return {
    session: row,
    title: null,
    turns,
    compactions: [],
    entries: entries === 0 ? null : entries,
    problem: entries === 0 ? "Only counts of this session are shared with you." : null,
    resume: null,
  };
}

/** Prompts, and messages below them: in one order, so that a page can begin anywhere. */
export async function conversation({ query, parameters }: Asked): Promise<Queries["conversation"]["answer"]> {
  const id = sessionId(parameters.required("session"));
  const from = parameters.number("from", 0, 1_000_000);
  const limit = Math.max(1, parameters.number("limit", 200, MAX_LIMIT));
  const rows = await query<{
    kind: "prompt" | "answer" | "tool-use" | "tool-result";
    tool: string | null;
    text: string;
    number: number;
    started_at: Date;
    total: number;
  }>(
    `SELECT e.*, count(*) OVER ()::integer AS total FROM (
       SELECT 'prompt' AS kind, NULL AS tool, x.prompt AS text, x.number, -1 AS position, x.started_at
       FROM sessions s JOIN turn_texts x ON x.month = s.month AND x.session_id = s.id
       WHERE s.id = $1::bigint AND x.prompt IS NOT NULL
       UNION ALL
       SELECT m.kind, m.tool, m.text, m.number, m.position, m.started_at
       FROM sessions s JOIN messages m ON m.month = s.month AND m.session_id = s.id WHERE s.id = $1::bigint
     ) e ORDER BY e.number, e.position OFFSET $2::integer LIMIT $3::integer`,
    id,
    from,
    limit,
  );
  const total = rows[0]?.total ?? 0;
  const entries = rows.map(({ kind, started_at, ...row }, i): ConversationEntry => {
    if (kind !== "prompt") return entryOf({ kind, ...row }, from + i);
    const { text, number } = row;
    return { index: from + i, type: kind, time: started_at.toISOString(), number, text, shortened: false, tool: null };
  });
  return { entries, total, next: from + rows.length < total ? from + rows.length : null };
}

/** Newest first. */
function turnsOf({ query }: Asked, id: string): Promise<Row[]> {
  return query<Row>(
    `SELECT ${FIELDS} FROM sessions s JOIN turns t ON t.month = s.month AND t.session_id = s.id ${TURN_JOINS}
     WHERE s.id = $1::bigint ORDER BY t.number DESC LIMIT ${MAX_TURNS}`,
    sessionId(id),
  );
}

async function messageCounts({ query }: Asked, id: string): Promise<Map<number, number>> {
  const rows = await query<{ number: number; messages: number }>(
    `SELECT m.number, count(*)::integer AS messages FROM sessions s JOIN messages m ON m.month = s.month AND m.session_id = s.id
     WHERE s.id = $1::bigint GROUP BY 1`,
    id,
  );
  return new Map(rows.map(({ number, messages }) => [number, messages]));
}

/** From the rows of one session, newest first. Its sums are of the turns that are given. */
function sessionRow(rows: readonly Row[]): SessionRow[] {
  const [newest] = rows;
  const oldest = rows.at(-1);
  if (!newest || !oldest) return [];
  const turns = rows.map(turnRow);
  const tokens = turns.flatMap((turn) => turn.tokens ?? []);
  const costs = turns.flatMap((turn) => turn.cost ?? []);
  const [first] = turns;
  const prompt = turns.findLast((turn) => turn.prompt !== null)?.prompt ?? "";
  const sum = (key: "input" | "output" | "cacheRead" | "cacheWrite") => tokens.reduce((all, one) => all + one[key], 0);
  return [
    {
      id: newest.session_id,
      agent: newest.agent,
      status: first?.open ? "running" : "completed",
      parent: null,
      prompt,
      model: newest.model,
      // The list shows the session's person and repository.
      tags: [...(newest.person === null ? [] : [newest.person]), newest.repository],
      startedAt: oldest.started_at.toISOString(),
      updatedAt: (newest.ended_at ?? newest.started_at).toISOString(),
      turns: rows.length,
      steps: 0,
      tokens:
        tokens.length === 0
          ? null
          : { input: sum("input"), output: sum("output"), cacheRead: sum("cacheRead"), cacheWrite: sum("cacheWrite") },
      cost: costs.length === 0 ? null : { usd: costs.reduce((all, { usd }) => all + usd, 0), estimated: false },
      worktree: null,
      log: false,
      recorded: true,
      imported: false,
      subagents: [],
      children: [],
    },
  ];
}
