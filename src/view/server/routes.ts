/** Maps the names of the protocol to the code that answers them. Each module loads when it is first asked. */
import { UserError } from "../../base/errors.ts";
import type { CommandName, Commands, Queries, QueryName } from "../protocol.ts";
import { Query } from "./queries/query.ts";
import type { OpenRepository } from "./repository/open.ts";
import type { Repositories } from "./repository/repositories.ts";

export interface ServerFacts {
  version: string;
  /** Identifies this process. */
  instance: string;
  readOnly: boolean;
  /** The program that hooks in a fork call. */
  executable: string;
}

export interface Context extends ServerFacts {
  repositories: Repositories;
  /** The repository that the request is about. */
  repository: OpenRepository;
}

type QueryHandler<Name extends QueryName> = (context: Context, query: Query) => Promise<Queries[Name]["answer"]>;
type CommandHandler<Name extends CommandName> = (
  context: Context,
  body: Record<string, unknown>,
) => Promise<Commands[Name]["answer"]>;

const QUERIES: { [Name in QueryName]?: () => Promise<QueryHandler<Name>> } = {
  state: async () => (await import("./queries/state.ts")).state,
  repositories: async () => (await import("./queries/state.ts")).repositories,
  timeline: async () => (await import("./queries/timeline/timeline.ts")).timeline,
  lines: async () => (await import("./queries/timeline/timeline.ts")).lines,
  turnCommits: async () => (await import("./queries/timeline/turn-commits.ts")).turnCommits,
  turn: async () => (await import("./queries/turn/turn.ts")).turn,
  toolCall: async () => (await import("./queries/turn/turn.ts")).toolCall,
  changes: async () => (await import("./queries/files/differences.ts")).changes,
  fileDiff: async () => (await import("./queries/files/differences.ts")).fileDiff,
  moments: async () => (await import("./queries/files/files.ts")).moments,
  tree: async () => (await import("./queries/files/files.ts")).tree,
  file: async () => (await import("./queries/files/files.ts")).file,
  blame: async () => (await import("./queries/files/blame.ts")).blame,
  sessions: async () => (await import("./queries/session/session-rows.ts")).sessions,
  session: async () => (await import("./queries/session/session.ts")).session,
  conversation: async () => (await import("./queries/session/session.ts")).conversation,
  entry: async () => (await import("./queries/session/session.ts")).entry,
  sessionImages: async () => (await import("./queries/session/images.ts")).sessionImages,
  entryImages: async () => (await import("./queries/session/images.ts")).entryImages,
  runs: async () => (await import("./queries/session/session-rows.ts")).runs,
  runLog: async () => (await import("./queries/session/run-log.ts")).runLog,
  commits: async () => (await import("./queries/commits/commits.ts")).commits,
  commit: async () => (await import("./queries/commits/commits.ts")).commit,
  forks: async () => (await import("./queries/commits/forks.ts")).forks,
  fork: async () => (await import("./queries/commits/forks.ts")).fork,
  search: async () => (await import("./queries/search.ts")).search,
  report: async () => async () => ({ available: false }),
  proposals: async () => (await import("./queries/timeline/proposals.ts")).proposals,
};

const COMMANDS: { [Name in CommandName]?: () => Promise<CommandHandler<Name>> } = {
  plan: async () => (await import("./commands/plan.ts")).plan,
  apply: async () => (await import("./commands/plan.ts")).apply,
  dismiss: async () => (await import("./commands/plan.ts")).dismiss,
};

export function isQuery(name: string): name is QueryName {
  return Object.hasOwn(QUERIES, name);
}

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

type Outer = Omit<Context, "repository">;

export async function runQuery(name: QueryName, outer: Outer, parameters: URLSearchParams): Promise<unknown> {
  const query = new Query(parameters);
  const handler = await QUERIES[name]?.();
  if (!handler) throw new UserError("not-found", "There is nothing here.");
  return handler({ ...outer, repository: outer.repositories.get(query.text("repository")) }, query);
}

export async function runCommand(name: CommandName, outer: Outer, body: Record<string, unknown>): Promise<unknown> {
  const { repository } = body;
  const handler = await COMMANDS[name]?.();
  if (!handler) throw new UserError("not-found", "There is nothing here.");
  const opened = outer.repositories.get(typeof repository === "string" ? repository : null);
  return handler({ ...outer, repository: opened }, body);
}
