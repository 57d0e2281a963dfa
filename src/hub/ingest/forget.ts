/** Deletes sessions from the index permanently, and changes the level of a person. */
import { levelNumber } from "../../team/levels.ts";
import type { ForgetAnswer, ForgetRequest, ShareAnswer, ShareRequest } from "../../team/protocol.ts";
import type { Database } from "../database/connect.ts";
import { levelAt } from "../people/people.ts";
import type { Caller } from "../people/tokens.ts";
import { audit } from "./store.ts";

export async function forgetSessions(
  database: Database,
  caller: Caller,
  { sessions }: ForgetRequest,
): Promise<ForgetAnswer> {
  return database.as(caller.person, async (query) => {
    const rows = await query<{ key: string }>(
      "SELECT key FROM forget_sessions(ARRAY(SELECT jsonb_array_elements_text($1::text::jsonb)))",
      JSON.stringify(sessions),
    );
    const forgotten = new Set(rows.map(({ key }) => key));
    await audit(query, caller, "forget", { sessions: forgotten.size });
    return { forgotten: [...forgotten], refused: sessions.filter((key) => !forgotten.has(key)) };
  });
}

/**
 * Lowering the level deletes everything above it at once. The last choice holds, and a machine's clock may be wrong: the
 * age of the choice counts, by the clock that the choice was made with.
 */
export async function shareRepository(database: Database, caller: Caller, request: ShareRequest): Promise<ShareAnswer> {
  return database.as(caller.person, async (query) => {
    const [row] = await query<{ level: number }>(
      `SELECT share_repository($1, $2::integer,
         coalesce(now() - ($4::timestamptz - $3::timestamptz), $3::timestamptz)) AS level`,
      request.repository,
      levelNumber(request.level),
      request.chosenAt,
      request.sentAt ?? null,
    );
    await audit(query, caller, "share", { repository: request.repository, level: request.level });
    return { level: levelAt(row?.level ?? 0) };
  });
}
