/**
 * The contract between the server of `backtrail view` and its page: every request, answer and live event. Types only,
 * so that both sides can import the file.
 *
 * The page's address is `http://127.0.0.1:<port>/<base>/#token=<token>`. All addresses below are relative to `<base>/`:
 *
 * - `POST api/login` with `{"token"}` exchanges the one-time token for a cookie and answers 204.
 * - `GET api/<name>?<query>` answers a query; see `Queries`. Values of the query are strings; a flag is "1".
 * - `POST api/<name>` with a JSON body runs a command; see `Commands`.
 * - `GET api/events` is a stream of Server-Sent Events; see `LiveEvents`.
 *
 * A failed request answers an `ErrorAnswer`: 400 usage, 401 signed out, 403 refused, 404 not found, 409 conflict,
 * 413 too large, 500 failed. All times are ISO 8601 in UTC, all paths are relative to the root of the work tree, and
 * all text comes from agents: hostile until it is escaped. Secrets are replaced by placeholders unless `reveal` is set.
 */
import type { ApplyAnswer, PlanAnswer, PlanRequest, ProposalsAnswer } from "./protocol/acting.ts";
import type { Changes, Comparison, FileAtStep, FileBlame, FileDiff, Image, Moment, Tree } from "./protocol/files.ts";
import type { ReportAnswer, SearchAnswer } from "./protocol/search.ts";
import type {
  CommitDetails,
  Commits,
  ConversationEntry,
  ConversationPage,
  ForkComparison,
  ForkRow,
  RunLog,
  SessionDetails,
  SessionRow,
} from "./protocol/sessions.ts";
import type { TeamActivity, TeamTurn } from "./protocol/team.ts";
import type { LineCounts, Repository, State, Timeline, TimelineQuery } from "./protocol/timeline.ts";
import type { ToolCallDetails, TurnDetails } from "./protocol/turn.ts";

export type * from "./protocol/acting.ts";
export type * from "./protocol/exported.ts";
export type * from "./protocol/files.ts";
export type * from "./protocol/search.ts";
export type * from "./protocol/sessions.ts";
export type * from "./protocol/team.ts";
export type * from "./protocol/timeline.ts";
export type * from "./protocol/turn.ts";

export interface ErrorAnswer {
  error: {
    /** `signed-out`: there is no valid cookie; `unavailable`: this version or this folder has no such feature. */
    kind: "usage" | "signed-out" | "refused" | "not-found" | "conflict" | "too-large" | "unavailable" | "failed";
    message: string;
    hint: string | null;
  };
}

/** Every query accepts `repository`, an id from `repositories`; the default is the one where `view` started. */
export interface Queries {
  state: { query: NoQuery; answer: State };
  repositories: { query: NoQuery; answer: { repositories: Repository[] } };

  timeline: { query: TimelineQuery; answer: Timeline };
  /** Added and deleted lines, for turns whose `lines` the timeline left null; at most 200 ids, separated by commas. */
  lines: { query: { turns: string }; answer: { lines: Record<string, LineCounts> } };
  /** The commits that turns' changes are in, for those that are in one; ids as for `lines`. */
  turnCommits: { query: { turns: string }; answer: { commits: Record<string, string> } };
  turn: { query: { id: string; reveal?: "1" }; answer: TurnDetails };
  /** The whole input and output of one tool call, which `turn` shortens. */
  toolCall: { query: { turn: string; call: string; reveal?: "1" }; answer: ToolCallDetails };

  /** The changed files of a turn, or between two states. */
  changes: { query: Comparison; answer: Changes };
  /** The changed lines of one file. `offset` continues a long diff at `next`. */
  fileDiff: {
    query: Comparison & { path: string; oldPath?: string; offset?: string; context?: string; reveal?: "1" };
    answer: FileDiff;
  };

  /** All states of this work tree, oldest first, for the time slider. */
  moments: { query: { path?: string }; answer: { moments: Moment[]; more: boolean } };
  /** One directory at a step; an empty path is the root. */
  tree: { query: { step: string; path?: string }; answer: Tree };
  /** `offset` is a line number from 0 at which a long file continues. */
  file: { query: { step: string; path: string; offset?: string; reveal?: "1" }; answer: FileAtStep };
  /** The current file, line by line, with the turn behind each line; paged by `offset`, a line number from 0. */
  blame: { query: { path: string; offset?: string; reveal?: "1" }; answer: FileBlame };

  sessions: { query: NoQuery; answer: { sessions: SessionRow[] } };
  session: { query: { id: string }; answer: SessionDetails };
  /** `from` is an index from 0; at most `limit` entries (default 200) are answered. */
  conversation: { query: { session: string; from?: string; limit?: string; reveal?: "1" }; answer: ConversationPage };
  /** One entry with its whole text. */
  entry: { query: { session: string; index: string; reveal?: "1" }; answer: ConversationEntry };

  /** The entries of a conversation that have images, by their indexes. */
  sessionImages: { query: { session: string }; answer: { entries: number[] } };
  entryImages: { query: { session: string; index: string }; answer: { images: Image[] } };

  commits: { query: { before?: string; limit?: string }; answer: Commits };
  commit: { query: { id: string }; answer: CommitDetails };

  forks: { query: NoQuery; answer: { forks: ForkRow[] } };
  /** Compares a fork with the work tree that it came from. */
  fork: { query: { id: string }; answer: ForkComparison };

  runs: { query: NoQuery; answer: { runs: SessionRow[] } };
  /** The log of a run from byte `offset` on. Ask again at `next` when a `changed` event names `runs`. */
  runLog: { query: { id: string; offset?: string; reveal?: "1" }; answer: RunLog };

  search: { query: { q: string; limit?: string; best?: "1"; here?: "1" }; answer: SearchAnswer };
  report: { query: { by?: string; since?: string }; answer: ReportAnswer };

  proposals: { query: NoQuery; answer: ProposalsAnswer };

  /** Only on the page of a team's hub; `days` is 14 by default. */
  teamTurn: { query: { id: string }; answer: TeamTurn };
  teamActivity: { query: { days?: string }; answer: TeamActivity };
}

/** Every command accepts `repository` as queries do. With `--read-only`, all of them answer 403. */
export interface Commands {
  /** Draws up a plan. Nothing changes. */
  plan: { body: PlanRequest; answer: PlanAnswer };
  /** Carries out a plan of `plan`, once. */
  apply: { body: { plan: string }; answer: ApplyAnswer };
  /** Dismisses an agent's proposal. */
  dismiss: { body: { proposal: string }; answer: { dismissed: string } };
}

export type QueryName = keyof Queries;
export type CommandName = keyof Commands;

/** The `event:` names of the stream and the JSON in their `data:`. */
export interface LiveEvents {
  /** The first event of each connection. A different `instance` after a reconnect means another server: reload. */
  hello: { instance: string; version: string };
  /** Something changed on disk: reload the visible data. At most a few per second. */
  changed: { repository: string; topics: Topic[] };
}

/** `worktree`: files changed on disk, so that an open plan may be stale; sent only while a plan is open. */
export type Topic = "timeline" | "operations" | "sessions" | "forks" | "runs" | "checks" | "proposals" | "worktree";

type NoQuery = Record<never, never>;
