/** The audit log as an administrator reads it, and how long it is kept. */
import type { Database } from "../database/connect.ts";
import { noteAction } from "./tokens.ts";

export interface AuditEntry {
  at: string;
  /** Null: an administrator at the database. */
  person: string | null;
  device: string | null;
  action: string;
  detail: unknown;
}

/** The newest entries, oldest of them first. */
export async function readAudit(
  database: Database,
  { person, limit }: { person: string | null; limit: number },
): Promise<AuditEntry[]> {
  const rows = await database.asOwner((query) =>
    query<{ at: Date; person: string | null; device: string | null; action: string; detail: string }>(
      `SELECT a.at, p.name AS person, coalesce(d.name, a.device_id) AS device, a.action, a.detail::text AS detail
       FROM audit a LEFT JOIN people p ON p.id = a.person_id LEFT JOIN devices d ON d.id = a.device_id
       WHERE $1::text IS NULL OR p.name = $1 ORDER BY a.id DESC LIMIT $2::integer`,
      person,
      limit,
    ),
  );
  return rows
    .reverse()
    .map(({ at, detail, ...row }) => ({ ...row, at: at.toISOString(), detail: JSON.parse(detail) as unknown }));
}

/** Deletes entries older than this many days; returns how many. */
export async function trimAudit(database: Database, days: number): Promise<number> {
  return database.asOwner(
    async (query) => {
      const rows = await query<{ n: number }>(
        `WITH gone AS (DELETE FROM audit WHERE at < now() - make_interval(days => $1::integer) RETURNING 1)
         SELECT count(*)::integer AS n FROM gone`,
        days,
      );
      const deleted = rows[0]?.n ?? 0;
      await noteAction(query, "trim-audit", { days, deleted });
      return deleted;
    },
    { timeoutMs: 600_000 },
  );
}
