/**
 * Stores turns that a client sent. Storing the same turn again changes nothing, an older copy never replaces a newer
 * one, and nothing above the level that the person shares is kept. Each request is one transaction.
 */
import { digest } from "../../base/digest.ts";
import { type Level, levelNumber } from "../../team/levels.ts";
import { levelOf, limitedTo, type SharedTurn, type TurnsAnswer, type TurnsRequest } from "../../team/protocol.ts";
import type { Database, Query } from "../database/connect.ts";
import { levelAt } from "../people/people.ts";
import type { Caller } from "../people/tokens.ts";
import { type Months, monthOf } from "./months.ts";
import type { PendingWords } from "./pending-words.ts";
import { searchVector } from "./words.ts";

/** The channel on which hubs tell each other that turns have changed. */
export const LIVE_CHANNEL = "backtrail_live";

interface Claimed {
  key: string;
  repository_id: number;
  session_id: string;
  month: Date;
  own: boolean;
}

/** A turn and the row that it belongs to. */
export interface PlacedTurn {
  turn: SharedTurn;
  session: string;
  month: string;
  repository: number;
}

/** Returns null if the person does not share the repository. */
export async function storeTurns(
  database: Database,
  { months, pendingWords }: { months: Months; pendingWords: PendingWords },
  caller: Caller,
  request: TurnsRequest,
): Promise<TurnsAnswer | null> {
  const starts = sessionStarts(request.turns);
  await months.ensure([...starts.values()].map(({ time }) => time));
  const withTexts = new Set<string>();
  const answer = await database.as(caller.person, async (query) => {
    const level = await sharedLevel(query, caller.person, request.repository);
    const [hub] = await query<{ generation: string }>("SELECT generation FROM hub");
    if (level === null) return null;
    const turns = newestCopies(request.turns).map((turn) => limitedTo(wellFormed(turn), level));
    const { placed, refused } = await place(query, request.repository, starts, turns);
    const changed = await writeTurns(query, placed, {
      person: caller.person,
      revision: request.revision,
      source: "client",
    });
    await audit(query, caller, "send", { repository: request.repository, turns: turns.length, changed });
    if (changed > 0) await query("SELECT pg_notify($1, $2)", LIVE_CHANNEL, String(placed[0]?.repository ?? 0));
    if (changed > 0) for (const { turn, month } of placed) if (turn.text) withTexts.add(month);
    return { generation: hub?.generation ?? "", level, stored: placed.length, refused };
  });
  pendingWords.added(withTexts);
  return answer;
}

export async function audit(query: Query, caller: Caller, action: string, detail: object): Promise<void> {
  await query(
    "INSERT INTO audit (person_id, device_id, action, detail) VALUES ($1::integer, $2, $3, $4::text::jsonb)",
    caller.person,
    caller.device,
    action,
    JSON.stringify(detail),
  );
}

async function sharedLevel(query: Query, person: number, repository: string): Promise<Level | null> {
  const [share] = await query<{ level: number }>(
    `SELECT s.level::integer FROM shares s JOIN repositories r ON r.id = s.repository_id
     WHERE s.person_id = $1::integer AND r.name = $2`,
    person,
    repository,
  );
  return share ? levelAt(share.level) : null;
}

/** The earliest known turn of each session. */
function sessionStarts(turns: readonly SharedTurn[]): Map<string, { time: string; agent: string }> {
  const starts = new Map<string, { time: string; agent: string }>();
  for (const { session, startedAt, agent } of turns) {
    const known = starts.get(session);
    if (!known || startedAt < known.time) starts.set(session, { time: startedAt, agent });
  }
  return starts;
}

/** One statement may not touch a row twice. */
function newestCopies(turns: readonly SharedTurn[]): SharedTurn[] {
  return [...new Map(turns.map((turn) => [`${turn.session} ${turn.turn}`, turn])).values()];
}

/** Finds the row of each turn, and refuses turns of forgotten sessions and of other people's sessions. */
async function place(
  query: Query,
  repository: string,
  starts: ReadonlyMap<string, { time: string; agent: string }>,
  turns: readonly SharedTurn[],
): Promise<{ placed: PlacedTurn[]; refused: TurnsAnswer["refused"] }> {
  if (turns.length === 0) return { placed: [], refused: [] };
  const keys = [...starts.keys()];
  const buried = await query<{ key: string }>(
    `SELECT encode(key, 'hex') AS key FROM tombstones
     WHERE key IN (SELECT decode(k, 'hex') FROM jsonb_array_elements_text($1::text::jsonb) AS k)`,
    JSON.stringify(keys),
  );
  const forgotten = new Set(buried.map(({ key }) => key));
  const wanted = keys
    .filter((key) => !forgotten.has(key))
    .map((key) => {
      const { time = "", agent = "" } = starts.get(key) ?? {};
      return { repository, key, month: monthOf(time), agent };
    });
  const claimed = await query<Claimed>("SELECT * FROM claim_sessions($1::text::jsonb)", JSON.stringify(wanted));
  const byKey = new Map(claimed.map((row) => [row.key, row]));
  const placed: PlacedTurn[] = [];
  const refused: TurnsAnswer["refused"] = [];
  for (const turn of turns) {
    const row = byKey.get(turn.session);
    if (row?.own)
      placed.push({ turn, session: row.session_id, month: dayOf(row.month), repository: row.repository_id });
    else refused.push({ session: turn.session, turn: turn.turn, reason: row ? "not-yours" : "forgotten" });
  }
  return { placed, refused };
}

/** Writes the rows of all three levels; returns how many turns are new or different. */
export async function writeTurns(
  query: Query,
  placed: readonly PlacedTurn[],
  owner: { person: number | null; revision: number; source: "client" | "git" },
): Promise<number> {
  if (placed.length === 0) return 0;
  const rows = placed.map((one) => rowOf(one, owner));
  const changed = await query<{ session_id: string; number: number; inserted: boolean }>(
    UPSERT_TURNS,
    JSON.stringify(rows),
  );
  if (changed.length === 0) return 0;
  const isNew = new Map(changed.map(({ session_id, number, inserted }) => [`${session_id} ${number}`, inserted]));
  const affected = placed.filter(({ session, turn }) => isNew.has(`${session} ${turn.turn}`));
  // A turn that was not there before has no texts to replace.
  const ids = affected
    .filter(({ session, turn }) => !isNew.get(`${session} ${turn.turn}`))
    .map(({ session, month, turn }) => ({ session_id: session, month, number: turn.turn }));
  if (ids.length > 0) {
    await query(DELETE_TEXTS, JSON.stringify(ids));
    await query(DELETE_MESSAGES, JSON.stringify(ids));
  }
  const texts = affected.flatMap((one) => textRow(one, owner.person));
  if (texts.length > 0) {
    await query(SORT_WORDS_IN_MEMORY);
    await query(INSERT_TEXTS, JSON.stringify(texts));
  }
  const messages = affected.flatMap((one) => messageRows(one, owner.person));
  if (messages.length > 0) await query(INSERT_MESSAGES, JSON.stringify(messages));
  return changed.length;
}

function rowOf(
  { turn, session, month, repository }: PlacedTurn,
  { person, revision, source }: { person: number | null; revision: number; source: string },
) {
  return {
    month,
    session_id: session,
    number: turn.turn,
    repository_id: repository,
    person_id: person,
    agent: turn.agent,
    model: turn.model,
    started_at: turn.startedAt,
    ended_at: turn.endedAt,
    status: turn.status,
    file_count: turn.fileCount,
    input_tokens: turn.tokens?.input ?? null,
    output_tokens: turn.tokens?.output ?? null,
    cache_read_tokens: turn.tokens?.cacheRead ?? null,
    cache_write_tokens: turn.tokens?.cacheWrite ?? null,
    api_calls: turn.apiCalls,
    usd: turn.usd,
    level: levelNumber(levelOf(turn)),
    source,
    revision,
    digest: turnDigest(turn),
  };
}

/** Two copies of a turn with the same digest are the same. */
export function turnDigest(turn: SharedTurn): string {
  return digest("sha256", JSON.stringify(turn)).toString("hex");
}

const TURN_COLUMNS =
  "month, session_id, number, repository_id, person_id, agent, model, started_at, ended_at, status, file_count, " +
  "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, api_calls, usd, level, source, revision, digest";

const UPSERT_TURNS = `
  INSERT INTO turns (${TURN_COLUMNS})
  SELECT ${TURN_COLUMNS.replace(", digest", ", decode(digest, 'hex')")}
  FROM jsonb_to_recordset($1::text::jsonb) AS r(
    month date, session_id bigint, number integer, repository_id integer, person_id integer, agent text, model text,
    started_at timestamptz, ended_at timestamptz, status text, file_count integer, input_tokens bigint,
    output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, api_calls integer, usd double precision,
    level smallint, source text, revision bigint, digest text)
  ORDER BY month, session_id, number
  ON CONFLICT (month, session_id, number) DO UPDATE SET
    person_id = excluded.person_id, agent = excluded.agent, model = excluded.model, started_at = excluded.started_at,
    ended_at = excluded.ended_at, status = excluded.status, file_count = excluded.file_count,
    input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    cache_read_tokens = excluded.cache_read_tokens, cache_write_tokens = excluded.cache_write_tokens,
    api_calls = excluded.api_calls, usd = excluded.usd, level = excluded.level, source = excluded.source,
    revision = excluded.revision, digest = excluded.digest, revised = true, changed_at = clock_timestamp()
  WHERE turns.digest <> excluded.digest AND turns.revision <= excluded.revision
  RETURNING session_id::text, number, NOT revised AS inserted`;

const KEYS = "jsonb_to_recordset($1::text::jsonb) AS k(month date, session_id bigint, number integer)";
const SAME = "t.month = k.month AND t.session_id = k.session_id AND t.number = k.number";
const DELETE_TEXTS = `DELETE FROM turn_texts t USING ${KEYS} WHERE ${SAME}`;
const DELETE_MESSAGES = `DELETE FROM messages t USING ${KEYS} WHERE ${SAME}`;

function textRow({ turn, session, month, repository }: PlacedTurn, person: number | null): object[] {
  if (turn.text === null) return [];
  const { prompt, paths, checkpoints } = turn.text;
  return [
    {
      month,
      session_id: session,
      number: turn.turn,
      repository_id: repository,
      person_id: person,
      started_at: turn.startedAt,
      session: turn.text.session,
      prompt,
      paths,
      checkpoints,
      search: searchVector([prompt ?? "", ...paths].join("\n")),
    },
  ];
}

/** Emptying a full list of pending words happens in pieces of this size; the usual 4 MB undo what the list is for. */
const SORT_WORDS_IN_MEMORY = "SELECT set_config('work_mem', '64MB', true)";

/** `json`, not `jsonb`: it is read once, and building a `jsonb` of every text and word took most of the time. */
const INSERT_TEXTS = `
  INSERT INTO turn_texts (month, session_id, number, repository_id, person_id, started_at, session, prompt, paths, checkpoints, search)
  SELECT month, session_id, number, repository_id, person_id, started_at, session, prompt,
    paths, checkpoints, search
  FROM json_to_recordset($1::text::json) AS r(
    month date, session_id bigint, number integer, repository_id integer, person_id integer, started_at timestamptz,
    session text, prompt text, paths text[], checkpoints text[], search tsvector)`;

function messageRows({ turn, session, month, repository }: PlacedTurn, person: number | null): object[] {
  return (turn.messages ?? []).map(({ kind, tool, text }, position) => ({
    month,
    session_id: session,
    number: turn.turn,
    position,
    repository_id: repository,
    person_id: person,
    started_at: turn.startedAt,
    kind,
    tool,
    text,
    search: searchVector(`${tool ?? ""} ${text}`),
  }));
}

const INSERT_MESSAGES = `
  INSERT INTO messages (month, session_id, number, position, repository_id, person_id, started_at, kind, tool, text, search)
  SELECT month, session_id, number, position, repository_id, person_id, started_at, kind, tool, text, search
  FROM json_to_recordset($1::text::json) AS r(
    month date, session_id bigint, number integer, position integer, repository_id integer, person_id integer,
    started_at timestamptz, kind text, tool text, text text, search tsvector)`;

/** PostgreSQL stores neither zero bytes nor lone halves of surrogate pairs. */
function wellFormed<T>(value: T): T {
  if (typeof value === "string") return value.replaceAll("\0", "").toWellFormed() as T;
  if (Array.isArray(value)) return value.map((item) => wellFormed(item)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, wellFormed(item)])) as T;
}

export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
