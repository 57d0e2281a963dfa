/** Changes what a person shares of a repository. */
import { levelNumber } from "../../team/levels.ts";
import type { ShareAnswer, ShareRequest } from "../../team/protocol.ts";
import type { Database } from "../database/connect.ts";
import { levelAt } from "../people/people.ts";
import type { Caller } from "../people/tokens.ts";
import { audit } from "./store.ts";

/**
 * Lowering the level deletes everything above it at once. The newest choice wins. Clocks may disagree, so we compare the
 * age of the choice by the clock that made it.
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
