/**
 * Answers the queries of the page from the index, as the signed-in person: row-level security limits the rows.
 * Every answer that shows turns is in the audit log, as in the API.
 */
import { listAgents } from "../../api/agents.ts";
import type { Queries, QueryName, Repository } from "../../view/protocol.ts";
import { Query as Parameters } from "../../view/server/queries/query.ts";
import { NO_REPOSITORY } from "../../view/server/repository/none.ts";
import type { Database, Query } from "../database/connect.ts";
import { audit } from "../ingest/store.ts";
import type { Caller } from "../people/tokens.ts";
import { teamActivity } from "./activity.ts";
import { NotThere } from "./not-there.ts";
import { searchPage } from "./search.ts";
import { conversation, session, sessions } from "./sessions.ts";
import { teamTurn, timeline } from "./turns.ts";

export interface PageContext {
  database: Database;
  caller: Caller;
  version: string;
}

export interface Asked {
  query: Query;
  parameters: Parameters;
  /** The id of the chosen repository; null: all. */
  repository: number | null;
}

type Handler<Name extends QueryName> = (asked: Asked, context: PageContext) => Promise<Queries[Name]["answer"]>;

const HANDLERS: { [Name in QueryName]?: Handler<Name> } = {
  state,
  repositories,
  timeline,
  teamTurn,
  teamActivity,
  sessions,
  session,
  conversation,
  search: searchPage,
  // The index has neither lines nor commits, but the page asks for them.
  lines: async () => ({ lines: {} }),
  turnCommits: async () => ({ commits: {} }),
  proposals: async () => ({ available: false }),
};

/** What shows nothing that people made. */
const UNNOTED: readonly QueryName[] = ["state", "lines", "turnCommits", "proposals"];

export function isPageQuery(name: string): name is QueryName {
  return Object.hasOwn(HANDLERS, name);
}

/** Throws `NotThere` if the requested row does not exist, or may not be read. */
export async function runPageQuery(name: QueryName, context: PageContext, given: URLSearchParams): Promise<unknown> {
  const { database, caller } = context;
  const parameters = new Parameters(cleaned(given));
  const handler = HANDLERS[name] as Handler<typeof name> | undefined;
  if (!handler) throw new NotThere();
  const note = (query: Query) => audit(query, caller, `page ${name}`, Object.fromEntries(cleaned(given)));
  const isNoted = !UNNOTED.includes(name);
  if (isNoted && database.hasReplica) await database.as(caller.person, note);
  return database.as(
    caller.person,
    async (query) => {
      if (isNoted && !database.hasReplica) await note(query);
      return handler({ query, parameters, repository: idOf(parameters.text("repository")) }, context);
    },
    { readOnly: true },
  );
}

async function state(
  { query, repository }: Asked,
  { caller, version }: PageContext,
): Promise<Queries["state"]["answer"]> {
  const chosen = repository === null ? undefined : (await repositoryRows(query, repository))[0];
  return {
    version,
    // Any hub of the team may answer the next request.
    instance: version,
    readOnly: true,
    exportedAt: null,
    repository: chosen ?? { ...NO_REPOSITORY, name: "All repositories" },
    agents: Object.fromEntries((await listAgents()).map(({ profile }) => [profile.id, profile.display_name])),
    available: { search: true, report: false, proposals: false },
    redo: false,
    team: { person: caller.name, role: caller.role },
  };
}

async function repositories({ query }: Asked): Promise<Queries["repositories"]["answer"]> {
  return { repositories: await repositoryRows(query, null) };
}

async function repositoryRows(query: Query, id: number | null): Promise<Repository[]> {
  const rows = await query<{ id: number; name: string; last: Date | null }>(
    `SELECT r.id, r.name,
       (SELECT t.started_at FROM turns t WHERE t.repository_id = r.id ORDER BY t.started_at DESC LIMIT 1) AS last
     FROM repositories r WHERE $1::integer IS NULL OR r.id = $1::integer ORDER BY r.name LIMIT 1000`,
    id,
  );
  return rows.map(({ id: number, name, last }) => ({
    ...NO_REPOSITORY,
    id: String(number),
    name,
    lastTurn: last?.toISOString() ?? null,
  }));
}

/** An id that is none finds nothing. */
function idOf(text: string | null): number | null {
  if (text === null || text === "") return null;
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

function cleaned(given: URLSearchParams): URLSearchParams {
  const clean = new URLSearchParams();
  for (const [name, value] of given) clean.set(name.slice(0, 100), value.replaceAll("\0", "").toWellFormed());
  return clean;
}
