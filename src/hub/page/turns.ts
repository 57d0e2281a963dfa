/** The timeline of the page, and one turn of it. A turn's id is `<session>-<number>`, of the index and no secret. */
import { hexDigest } from "../../base/digest.ts";
import type { ConversationEntry, Queries, TeamTurn, Tokens, TurnRow } from "../../view/protocol.ts";
import type { Query } from "../database/connect.ts";
import { cursorOf, type TurnRow as IndexRow, parseCursor, TURN_FIELDS, TURN_JOINS } from "../query/turns.ts";
import { NotThere } from "./not-there.ts";
import type { Asked } from "./queries.ts";

const MAX_LIMIT = 200;
const PROMPT = 500;
const SHOWN_PATHS = 5;
const STATUSES = ["kept", "undone", "rewound"];
/** A turn that never ended is not running for ever. */
const RUNNING_HOURS = 6;

export interface Row extends IndexRow {
  usd: number | null;
  repository_id: number;
}

export const FIELDS = `${TURN_FIELDS}, t.usd, t.repository_id`;

export async function timeline({ query, parameters, repository }: Asked): Promise<Queries["timeline"]["answer"]> {
  const limit = Math.max(1, parameters.number("limit", 50, MAX_LIMIT));
  const before = parameters.text("before") ?? undefined;
  const after = parseCursor(before);
  const status = parameters.text("fate");
  const rows = await query<Row>(
    `SELECT ${FIELDS} FROM turns t ${TURN_JOINS}
     WHERE ($1::integer IS NULL OR t.repository_id = $1::integer) AND ($2::text IS NULL OR t.agent = $2)
       AND ($3::text IS NULL OR t.status = $3) AND ($4::bigint IS NULL OR t.session_id = $4::bigint)
       AND ($5::timestamptz IS NULL OR (t.started_at, t.session_id, t.number) < ($5, $6::bigint, $7::integer))
     ORDER BY t.started_at DESC, t.session_id DESC, t.number DESC LIMIT $8::integer`,
    repository,
    parameters.text("agent"),
    status !== null && STATUSES.includes(status) ? status : null,
    sessionId(parameters.text("session")),
    after?.time ?? null,
    after?.session ?? "0",
    after?.number ?? 0,
    limit + 1,
  );
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const items = shown.map(turnRow);
  return {
    items,
    branches: [{ id: "", kind: "current", name: null, from: null, endedBy: null }],
    next: rows.length > limit && last ? cursorOf(last) : null,
    revision: hexDigest("sha256", JSON.stringify(items)),
  };
}

export async function teamTurn({ query, parameters }: Asked): Promise<TeamTurn> {
  const [, session = "0", number = "0"] = /^(\d{1,18})-(\d{1,9})$/.exec(parameters.required("id")) ?? [];
  const [row] = await query<Row>(
    `SELECT ${FIELDS} FROM sessions s JOIN turns t ON t.month = s.month AND t.session_id = s.id ${TURN_JOINS}
     WHERE s.id = $1::bigint AND t.number = $2::integer`,
    session,
    number,
  );
  if (!row) throw new NotThere();
  const entries = await entriesOf(query, session, Number(number));
  const [neighbors] = await query<{ previous: number | null; next: number | null }>(
    `SELECT max(t.number) FILTER (WHERE t.number < $2::integer) AS previous,
       min(t.number) FILTER (WHERE t.number > $2::integer) AS next
     FROM sessions s JOIN turns t ON t.month = s.month AND t.session_id = s.id WHERE s.id = $1::bigint`,
    session,
    number,
  );
  const idOf = (other: number | null | undefined) => (other == null ? null : `${session}-${other}`);
  return {
    turn: turnRow(row),
    repository: row.repository,
    prompt: row.prompt,
    paths: row.paths && [...row.paths],
    checkpoints: [...(row.checkpoints ?? [])],
    entries: entries.length > 0 ? entries : null,
    previous: idOf(neighbors?.previous),
    next: idOf(neighbors?.next),
  };
}

/** Turns that are running now, newest first. */
export async function runningTurns({ query, repository }: Asked): Promise<TurnRow[]> {
  const rows = await query<Row>(
    `SELECT ${FIELDS} FROM turns t ${TURN_JOINS}
     WHERE t.ended_at IS NULL AND t.started_at > now() - interval '${RUNNING_HOURS} hours'
       AND ($1::integer IS NULL OR t.repository_id = $1::integer)
     ORDER BY t.started_at DESC LIMIT 100`,
    repository,
  );
  return rows.map(turnRow);
}

interface MessageRow {
  kind: "answer" | "tool-use" | "tool-result";
  tool: string | null;
  text: string;
  number: number;
}

/** The messages of a turn, or of a whole session from a position on. */
async function entriesOf(query: Query, session: string, number: number): Promise<ConversationEntry[]> {
  const rows = await query<MessageRow>(
    `SELECT m.kind, m.tool, m.text, m.number FROM sessions s JOIN messages m ON m.month = s.month AND m.session_id = s.id
     WHERE s.id = $1::bigint AND m.number = $2::integer ORDER BY m.position LIMIT 1000`,
    session,
    number,
  );
  return rows.map((row, index) => entryOf(row, index));
}

export function entryOf({ kind, tool, text, number }: MessageRow, index: number): ConversationEntry {
  const isUse = kind === "tool-use";
  return {
    index,
    type: kind,
    time: null,
    number,
    text: isUse ? "" : text,
    shortened: false,
    tool: tool === null ? null : { name: tool, id: null, title: isUse ? text : "", input: isUse ? text : "" },
  };
}

export function turnRow(row: Row): TurnRow {
  const id = `${row.session_id}-${row.number}`;
  const startedAt = row.started_at.toISOString();
  const endedAt = row.ended_at?.toISOString() ?? null;
  return {
    kind: "turn",
    id,
    key: id,
    branch: "",
    agent: row.agent,
    person: row.person,
    session: row.session_id,
    number: row.number,
    prompt: row.prompt?.slice(0, PROMPT).toWellFormed() ?? null,
    startedAt,
    endedAt,
    open: endedAt === null && Date.now() - row.started_at.getTime() < RUNNING_HOURS * 3_600_000,
    interrupted: false,
    fate: row.status,
    // How many of them were added is not shared.
    files: { added: 0, modified: row.file_count, deleted: 0 },
    paths: (row.paths ?? []).slice(0, SHOWN_PATHS),
    lines: null,
    model: row.model,
    tokens: tokensOf(row),
    cost: row.usd === null ? null : { usd: row.usd, estimated: false },
    check: null,
    commit: null,
    answer: null,
    forks: [],
    subagents: [],
    changedBefore: false,
    worktree: "",
  };
}

function tokensOf(row: IndexRow): Tokens | null {
  if (row.input_tokens === null) return null;
  return {
    input: Number(row.input_tokens),
    output: Number(row.output_tokens),
    cacheRead: Number(row.cache_read_tokens),
    cacheWrite: Number(row.cache_write_tokens),
  };
}

/** A text that is no id is the id of no session. */
export function sessionId(text: string | null): string | null {
  if (text === null || text === "") return null;
  return /^\d{1,18}$/.test(text) ? text : "0";
}
