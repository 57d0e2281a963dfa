/** The routes of the hub. Every route but `join` needs a token; row-level security limits what it reads. */
import * as z from "zod/mini";
import type { Level } from "../../team/levels.ts";
import {
  forgetRequestSchema,
  joinRequestSchema,
  type LinkAnswer,
  type MeAnswer,
  repositorySchema,
  shareRequestSchema,
  turnsRequestSchema,
} from "../../team/protocol.ts";
import type { Database, Query } from "../database/connect.ts";
import { forgetSessions } from "../ingest/forget.ts";
import type { Months } from "../ingest/months.ts";
import type { PendingWords } from "../ingest/pending-words.ts";
import { shareRepository } from "../ingest/share.ts";
import { audit, storeTurns } from "../ingest/store.ts";
import { makeLink } from "../page/sign-in.ts";
import { levelAt } from "../people/people.ts";
import { type Caller, join, revoke, type Scope } from "../people/tokens.ts";
import { activity } from "../query/activity.ts";
import { search } from "../query/search.ts";
import { listTurns, turnsOfCheckpoint } from "../query/turns.ts";
import type { Live } from "./live.ts";
import type { Metrics } from "./metrics.ts";
import { bodyOf, checked, jsonAnswer, RequestError } from "./respond.ts";

interface RouteContext {
  database: Database;
  months: Months;
  pendingWords: PendingWords;
  metrics: Metrics;
  live: Live;
  request: Request;
  url: URL;
}

interface Route {
  method: "GET" | "POST" | "DELETE";
  path: string;
  /** Absent: no token is needed. */
  scope?: Scope;
  answer(context: RouteContext, caller: Caller): Promise<Response>;
}

const limit = (most: number, usual: number) =>
  z.catch(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(most)), usual);
const filterText = z.optional(z.string().check(z.maxLength(300)));
const day = z.string().check(z.regex(/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/));

const turnsQuery = z.object({
  repository: z.optional(repositorySchema),
  person: filterText,
  agent: filterText,
  after: filterText,
  limit: limit(200, 50),
});
const searchQuerySchema = z.object({
  q: z.string().check(z.minLength(1), z.maxLength(500)),
  repository: z.optional(repositorySchema),
  person: filterText,
  agent: filterText,
  limit: limit(100, 20),
});
const activityQuery = z.object({ from: day, to: day, repository: z.optional(repositorySchema) });
const checkpointQuery = z.object({ id: z.string().check(z.regex(/^[0-9A-Za-z]{12,26}$/)) });

export const ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/join",
    async answer({ database, request }) {
      const { invitation, device } = await bodyOf(request, joinRequestSchema);
      const joined = await join(database, invitation, printableName(device));
      if (!joined)
        throw new RequestError(403, "invitation", "This invitation was used before, has expired, or is wrong.");
      return jsonAnswer(joined, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/me",
    scope: "read",
    answer: ({ database }, caller) =>
      reading(database, caller, "me", {}, async (query) => {
        const [hub] = await query<{ generation: string }>("SELECT generation FROM hub");
        const rows = await query<{ name: string; level: number }>(
          `SELECT name, CASE WHEN id = ANY (readable(2)) THEN 2 WHEN id = ANY (readable(1)) THEN 1 ELSE 0 END AS level
           FROM repositories WHERE id = ANY (readable(0)) ORDER BY name LIMIT 1000`,
        );
        const repositories = rows.map(({ name, level }): { name: string; level: Level } => ({
          name,
          level: levelAt(level),
        }));
        return {
          person: caller.name,
          role: caller.role,
          generation: hub?.generation ?? "",
          repositories,
        } satisfies MeAnswer;
      }),
  },
  sending("/v1/share", shareRequestSchema, shareRepository),
  {
    method: "POST",
    path: "/v1/turns",
    scope: "send",
    async answer({ database, months, pendingWords, metrics, request }, caller) {
      const stored = await storeTurns(
        database,
        { months, pendingWords },
        caller,
        await bodyOf(request, turnsRequestSchema),
      );
      if (!stored) throw new RequestError(409, "not-shared", "This repository is not shared here.");
      metrics.stored(stored.stored);
      return jsonAnswer(stored);
    },
  },
  sending("/v1/forget", forgetRequestSchema, forgetSessions),
  {
    method: "GET",
    path: "/v1/turns",
    scope: "read",
    async answer({ database, url }, caller) {
      const filter = parametersOf(url, turnsQuery);
      return reading(database, caller, "turns", filter, (query) => listTurns(query, filter));
    },
  },
  {
    method: "GET",
    path: "/v1/checkpoint",
    scope: "read",
    async answer({ database, url }, caller) {
      const { id } = parametersOf(url, checkpointQuery);
      return reading(database, caller, "checkpoint", { id }, async (query) => ({
        items: await turnsOfCheckpoint(query, id, 1_000),
      }));
    },
  },
  {
    method: "GET",
    path: "/v1/search",
    scope: "read",
    async answer({ database, url }, caller) {
      const { q, ...filter } = parametersOf(url, searchQuerySchema);
      return reading(database, caller, "search", { q, ...filter }, async (query) => ({
        items: await search(query, { text: q, ...filter }),
      }));
    },
  },
  {
    method: "GET",
    path: "/v1/activity",
    scope: "read",
    async answer({ database, url }, caller) {
      const filter = parametersOf(url, activityQuery);
      return reading(database, caller, "activity", filter, async (query) => ({ items: await activity(query, filter) }));
    },
  },
  {
    method: "POST",
    path: "/v1/link",
    scope: "read",
    answer: async ({ database }, caller) => jsonAnswer((await makeLink(database, caller)) satisfies LinkAnswer, 201),
  },
  {
    method: "GET",
    path: "/v1/live",
    scope: "read",
    answer: ({ live, request }, caller) => live.open(caller, request.signal),
  },
  {
    method: "DELETE",
    path: "/v1/device",
    scope: "read",
    async answer({ database }, caller) {
      await revoke(database, caller.device);
      return jsonAnswer({ revoked: caller.device });
    },
  },
];

/** Checks a machine's turns, stores them for the caller, and answers with the result for each. */
function sending<T extends z.ZodMiniType>(
  path: string,
  schema: T,
  store: (database: Database, caller: Caller, sent: z.infer<T>) => Promise<unknown>,
): Route {
  return {
    method: "POST",
    path,
    scope: "send",
    answer: async ({ database, request }, caller) =>
      jsonAnswer(await store(database, caller, await bodyOf(request, schema))),
  };
}

/**
 * Reads as the caller. The audit log has it first: in the same transaction, or, since a replica takes no rows, in one on
 * the primary that is committed before. So no read goes unnoted.
 */
async function reading(
  database: Database,
  caller: Caller,
  action: string,
  detail: object,
  read: (query: Query) => Promise<object>,
): Promise<Response> {
  const note = (query: Query) => audit(query, caller, action, detail);
  if (database.hasReplica) await database.as(caller.person, note);
  const value = await database.as(
    caller.person,
    async (query) => {
      if (!database.hasReplica) await note(query);
      return read(query);
    },
    { readOnly: true },
  );
  return jsonAnswer(value);
}

function parametersOf<T extends z.ZodMiniType>(url: URL, schema: T): z.infer<T> {
  const given = [...url.searchParams].map(([name, value]) => [name, value.replaceAll("\0", "").toWellFormed()]);
  return checked(schema, Object.fromEntries(given));
}

function printableName(text: string): string {
  return (
    text
      .replace(/\p{Cc}/gu, "")
      .toWellFormed()
      .trim() || "device"
  );
}
