/**
 * Fills the index from git remotes that carry checkpoints. A turn that its author's machine has sent stays as it was
 * sent; a turn that no machine sent is stored up to its author's level, otherwise the level of the source.
 */
import { messageOf } from "../../base/errors.ts";
import { log } from "../../base/log.ts";
import { oneLine, shorten } from "../../base/text.ts";
import { tombstoneKey } from "../../checkpoints/forget/tombstones.ts";
import { withoutPassword } from "../../checkpoints/sync/remote.ts";
import { type Level, levelNumber } from "../../team/levels.ts";
import { limitedTo, type SharedTurn } from "../../team/protocol.ts";
import { type Database, type Query, sqlState } from "../database/connect.ts";
import { type Months, monthOf } from "../ingest/months.ts";
import { dayOf, type PlacedTurn, turnDigest, writeTurns } from "../ingest/store.ts";
import { levelAt } from "../people/people.ts";
import { noteAction } from "../people/tokens.ts";
import { HubProblemError } from "../problems.ts";
import { sessionsOf } from "./documents.ts";
import { Mirror } from "./mirror.ts";

export interface Source {
  id: number;
  address: string;
  repository: string;
  level: Level;
  commit: string | null;
  readAt: string | null;
  error: string | null;
}

export interface ReadResult {
  source: string;
  /** Turns in the checkpoints that were read. */
  turns: number;
  /** Turns whose row, sent or read, agrees with the checkpoint. */
  same: number;
  /** Turns that a machine sent with another content: `<session> <turn>`. */
  different: string[];
  /** Sessions that were forgotten, here or in git. */
  forgotten: number;
}

/** One session, put together from all checkpoints that have it. */
interface Gathered {
  session: string;
  author: string | undefined;
  forgotten: boolean;
  turns: Map<number, SharedTurn>;
}

const UNIQUE_VIOLATION = "23505";

export async function addSource(
  database: Database,
  { address, repository, level }: Pick<Source, "address" | "repository" | "level">,
): Promise<void> {
  if (withoutPassword(address) !== address) throw new HubProblemError("usage", { kind: "password-in-address" });
  try {
    await database.asOwner(async (query) => {
      await query("SELECT name_repositories(ARRAY[$1])", repository);
      await query(
        `INSERT INTO sources (repository_id, address, level) SELECT id, $2, $3::smallint FROM repositories WHERE name = $1`,
        repository,
        address,
        levelNumber(level),
      );
      await noteAction(query, "add-source", { address, repository, level });
    });
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    throw new HubProblemError("usage", { kind: "source-exists" });
  }
}

export async function listSources(database: Database): Promise<Source[]> {
  const rows = await database.asOwner((query) =>
    query<{
      id: number;
      address: string;
      repository: string;
      level: number;
      commit: string | null;
      read_at: Date | null;
      error: string | null;
    }>(
      `SELECT s.id, s.address, r.name AS repository, s.level::integer, s.commit, s.read_at, s.error
       FROM sources s JOIN repositories r ON r.id = s.repository_id ORDER BY s.id`,
    ),
  );
  return rows.map(({ read_at, level, ...row }) => ({
    ...row,
    level: levelAt(level),
    readAt: read_at?.toISOString() ?? null,
  }));
}

/** Rows that came from it stay. Returns whether there was such a source. */
export async function removeSource(database: Database, address: string): Promise<boolean> {
  return database.asOwner(async (query) => {
    const rows = await query("DELETE FROM sources WHERE address = $1 RETURNING id", address);
    if (rows.length > 0) await noteAction(query, "remove-source", { address });
    return rows.length > 0;
  });
}

/** Reads new checkpoints of a source; with `whole`, all of them. */
export async function readSource(
  database: Database,
  months: Months,
  source: Source,
  { whole }: { whole: boolean },
): Promise<ReadResult> {
  try {
    const mirror = await Mirror.open(source.address);
    const commit = await mirror.fetch();
    const result: ReadResult = { source: source.address, turns: 0, same: 0, different: [], forgotten: 0 };
    if (commit !== null && (whole || commit !== source.commit)) {
      const sessions = await gather(mirror, commit, whole ? null : source.commit);
      await months.ensure(sessions.flatMap(({ turns }) => [...turns.values()].map(({ startedAt }) => startedAt)));
      for (const session of sessions)
        add(result, await database.asOwner((query) => storeSession(query, source, session)));
    }
    await note(database, source, commit, null);
    return result;
  } catch (error) {
    await note(database, source, source.commit, shorten(oneLine(messageOf(error)), 500));
    throw error;
  }
}

function add(result: ReadResult, one: Omit<ReadResult, "source">): void {
  result.turns += one.turns;
  result.same += one.same;
  result.forgotten += one.forgotten;
  result.different.push(...one.different);
}

async function note(database: Database, { id }: Source, commit: string | null, error: string | null): Promise<void> {
  await database.asOwner((query) =>
    query("UPDATE sources SET commit = $2, error = $3, read_at = now() WHERE id = $1::integer", id, commit, error),
  );
}

async function gather(mirror: Mirror, commit: string, before: string | null): Promise<Gathered[]> {
  const authors = await mirror.authors(commit);
  const gathered = new Map<string, Gathered>();
  const reader = mirror.reader();
  try {
    for (const id of await mirror.changedSince(commit, before)) {
      try {
        const checkpoint = await reader.find(id);
        for (const one of checkpoint ? await sessionsOf(reader, checkpoint) : []) {
          const known = gathered.get(one.session) ?? {
            session: one.session,
            author: authors.get(id),
            forgotten: false,
            turns: new Map(),
          };
          known.forgotten ||= one.forgotten;
          for (const turn of one.turns) known.turns.set(turn.turn, united(known.turns.get(turn.turn), turn));
          gathered.set(one.session, known);
        }
      } catch (error) {
        log("warn", "hub", `Checkpoint ${id} is skipped: ${messageOf(error)}`);
      }
    }
  } finally {
    reader.close();
  }
  return [...gathered.values()];
}

/** A turn that was still running at one commit is complete in a later checkpoint. */
function united(a: SharedTurn | undefined, b: SharedTurn): SharedTurn {
  if (!a) return b;
  const fuller = (a.endedAt ?? "") > (b.endedAt ?? "") ? a : b;
  const checkpoints = [...new Set([...(a.text?.checkpoints ?? []), ...(b.text?.checkpoints ?? [])])].sort();
  return { ...fuller, text: fuller.text && { ...fuller.text, checkpoints } };
}

interface ExistingRow {
  number: number;
  status: SharedTurn["status"];
  level: number;
  digest: string;
  checkpoints: string[] | null;
}

async function storeSession(
  query: Query,
  source: Source,
  { session, author, forgotten, turns }: Gathered,
): Promise<Omit<ReadResult, "source">> {
  const key = tombstoneKey(session);
  const nothing = { turns: 0, same: 0, different: [], forgotten: 1 };
  const [buried] = await query("SELECT key FROM tombstones WHERE key = decode($1, 'hex')", key);
  if (buried || forgotten) {
    if (!buried) await query("SELECT forget_sessions(ARRAY[$1])", key);
    return nothing;
  }
  const [first] = [...turns.values()];
  if (!first) return { ...nothing, forgotten: 0 };
  const owner = await ownerOf(query, source, author);
  const placed = await claim(query, source, key, first, owner.person);
  const rows = await query<ExistingRow>(
    `SELECT t.number, t.status, t.level::integer, encode(t.digest, 'hex') AS digest, x.checkpoints
     FROM turns t LEFT JOIN turn_texts x USING (month, session_id, number) WHERE t.month = $1::date AND t.session_id = $2::bigint`,
    placed.month,
    placed.session,
  );
  const existing = new Map(rows.map((row) => [row.number, row]));
  const result = { turns: turns.size, same: 0, different: [] as string[], forgotten: 0 };
  const missing: PlacedTurn[] = [];
  for (const turn of turns.values()) {
    const row = existing.get(turn.turn);
    const merged = united(row?.checkpoints ? withCheckpoints(turn, row.checkpoints) : undefined, turn);
    if (row && isSame(row, merged)) result.same++;
    else if (row && placed.source === "client") result.different.push(`${session} ${turn.turn}`);
    else missing.push({ ...placed, turn: limitedTo(merged, owner.level) });
  }
  const person = placed.person;
  await writeTurns(query, missing, { person, revision: 0, source: "git" });
  result.same += missing.length;
  return result;
}

/** Whether a turn was undone is not in git: that is the machine's to say. */
function isSame({ status, level, digest }: ExistingRow, turn: SharedTurn): boolean {
  return turnDigest(limitedTo({ ...turn, status }, levelAt(level))) === digest;
}

function withCheckpoints(turn: SharedTurn, checkpoints: readonly string[]): SharedTurn {
  return { ...turn, text: turn.text && { ...turn.text, checkpoints: [...checkpoints] } };
}

async function ownerOf(
  query: Query,
  { repository, level }: Source,
  author: string | undefined,
): Promise<{ person: number | null; level: Level }> {
  const [row] = await query<{ id: number; level: number | null }>(
    `SELECT p.id, s.level::integer FROM people p
     LEFT JOIN shares s ON s.person_id = p.id AND s.repository_id = (SELECT id FROM repositories WHERE name = $2)
     WHERE p.email = $1`,
    author ?? "",
    repository,
  );
  if (!row) return { person: null, level };
  const shared = row.level === null ? level : levelAt(row.level);
  return { person: row.id, level: levelNumber(shared) < levelNumber(level) ? shared : level };
}

interface Placed extends Omit<PlacedTurn, "turn"> {
  person: number | null;
  source: "client" | "git";
}

async function claim(
  query: Query,
  { repository }: Source,
  key: string,
  { startedAt, agent }: SharedTurn,
  person: number | null,
): Promise<Placed> {
  await query(
    `INSERT INTO sessions (repository_id, key, person_id, month, agent, source)
     SELECT id, decode($2, 'hex'), $3::integer, $4::date, $5, 'git' FROM repositories WHERE name = $1
     ON CONFLICT (repository_id, key) DO NOTHING`,
    repository,
    key,
    person,
    monthOf(startedAt),
    agent,
  );
  const [row] = await query<{
    id: string;
    month: Date;
    person_id: number | null;
    repository_id: number;
    source: Placed["source"];
  }>(
    `SELECT s.id::text, s.month, s.person_id, s.repository_id, s.source FROM sessions s JOIN repositories r ON r.id = s.repository_id
     WHERE r.name = $1 AND s.key = decode($2, 'hex')`,
    repository,
    key,
  );
  if (!row) throw new Error("The session was deleted meanwhile.");
  const { id, month, person_id, repository_id, source } = row;
  return { session: id, month: dayOf(month), repository: repository_id, person: person_id, source };
}
