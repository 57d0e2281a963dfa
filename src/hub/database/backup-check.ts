/** Checks what must hold in an index before it is served, such as after a backup was restored. */
import type { Database } from "./connect.ts";
import { requireCurrentSchema } from "./migrate.ts";

export interface Check {
  name: "policies" | "tombstones" | "texts" | "levels" | "partitions" | "counts";
  /** The number of rows or tables that break it. */
  violations: number;
}

const CHECKS: Readonly<Record<Check["name"], string>> = {
  // Every table that people read has row-level security.
  policies: `SELECT count(*)::integer AS n FROM pg_class
    WHERE oid IN ('sessions'::regclass, 'turns'::regclass, 'turn_texts'::regclass, 'messages'::regclass, 'repositories'::regclass,
        'day_counts'::regclass)
      AND NOT (relrowsecurity AND EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid))`,
  // A backup from before a \`forget\` brings sessions back.
  tombstones: "SELECT count(*)::integer AS n FROM sessions WHERE key IN (SELECT key FROM tombstones)",
  texts: `SELECT count(*)::integer AS n FROM turn_texts x
    WHERE NOT EXISTS (SELECT FROM turns t WHERE t.month = x.month AND t.session_id = x.session_id AND t.number = x.number AND t.level >= 1)`,
  levels: `SELECT count(*)::integer AS n FROM turns t JOIN shares s USING (person_id, repository_id) WHERE t.level > s.level`,
  // Triggers keep them; a session that was copied into the tables past them would be missing.
  counts: `SELECT count(*)::integer AS n FROM counted FULL JOIN day_counts c USING (day, repository_id, agent, person_id)
    WHERE counted.turns IS DISTINCT FROM c.turns`,
  partitions:
    "SELECT count(*)::integer AS n FROM turns t WHERE NOT EXISTS (SELECT FROM sessions s WHERE s.id = t.session_id AND s.month = t.month)",
};

export async function checkIndex(database: Database): Promise<Check[]> {
  await requireCurrentSchema(database);
  return database.asOwner(
    async (query) => {
      const checks: Check[] = [];
      for (const [name, text] of Object.entries(CHECKS)) {
        const [row] = await query<{ n: number }>(text);
        checks.push({ name: name as Check["name"], violations: row?.n ?? 0 });
      }
      return checks;
    },
    { timeoutMs: 600_000 },
  );
}
