/**
 * Brings the schema up to date. All pending migrations run in one transaction under an advisory lock: several hubs may
 * start at once, and a killed migration leaves nothing behind.
 */
import { HubProblemError } from "../problems.ts";
import index from "../schema/0001-index.sql" with { type: "text" };
import page from "../schema/0002-page.sql" with { type: "text" };
import farMonths from "../schema/0003-far-months.sql" with { type: "text" };
import scale from "../schema/0004-scale.sql" with { type: "text" };
import newestTurns from "../schema/0005-newest-turns.sql" with { type: "text" };
import type { Database, Query } from "./connect.ts";

/** In order; the number of a migration is its position, from 1. */
const MIGRATIONS: readonly string[] = [index, page, farMonths, scale, newestTurns];

const SCHEMA_VERSION = MIGRATIONS.length;

/** Chosen once; all hubs of a database must agree. */
const LOCK = 7_291_655_004;
const TIMEOUT_MS = 600_000;

/** Returns the versions before and after. */
export function migrate(database: Database): Promise<{ from: number; to: number }> {
  return database.asOwner(
    async (query) => {
      await query("SELECT pg_advisory_xact_lock($1::bigint)", String(LOCK));
      const from = await appliedVersion(query);
      requireKnown(from);
      await query(
        "CREATE TABLE IF NOT EXISTS public.backtrail_migrations (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())",
      );
      for (const [i, text] of MIGRATIONS.entries()) {
        if (i + 1 <= from) continue;
        await query(text);
        await query("SELECT set_config('search_path', 'backtrail', true)");
        await query("INSERT INTO public.backtrail_migrations (version) VALUES ($1::integer)", i + 1);
      }
      return { from, to: SCHEMA_VERSION };
    },
    { timeoutMs: TIMEOUT_MS },
  );
}

/** Throws unless the schema has this program's version. */
export async function requireCurrentSchema(database: Database): Promise<void> {
  requireKnown(await database.asOwner(appliedVersion));
  await requireUsableSchema(database);
}

/**
 * For a hub that serves already: a newer hub may have updated the schema meanwhile. Each migration leaves what the version
 * before it uses, so that hubs can be restarted one by one.
 */
export async function requireUsableSchema(database: Database): Promise<void> {
  const version = await database.asOwner(appliedVersion);
  if (version < SCHEMA_VERSION)
    throw new HubProblemError("refused", { kind: version === 0 ? "no-index" : "index-older" });
}

async function appliedVersion(query: Query): Promise<number> {
  const [found] = await query<{ table: string | null }>(
    "SELECT to_regclass('public.backtrail_migrations')::text AS table",
  );
  if (!found?.table) return 0;
  const [row] = await query<{ version: number }>(
    "SELECT coalesce(max(version), 0)::integer AS version FROM public.backtrail_migrations",
  );
  return row?.version ?? 0;
}

function requireKnown(version: number): void {
  if (version <= SCHEMA_VERSION) return;
  throw new HubProblemError("refused", { kind: "index-newer", version, known: SCHEMA_VERSION });
}
