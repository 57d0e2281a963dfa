/** Deletes sessions from the index permanently. */
import type { ForgetAnswer, ForgetRequest } from "../../team/protocol.ts";
import type { Database } from "../database/connect.ts";
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
