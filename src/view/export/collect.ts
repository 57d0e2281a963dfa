/** Collects everything that the page shows of some sessions, for a file that is read without a server. */
import { listAgents } from "../../api/agents.ts";
import { now } from "../../base/clock.ts";
import { version } from "../../base/version.ts";
import type { SessionNode } from "../../run/sessions/model.ts";
import type { SessionStory } from "../../run/sessions/story.ts";
import type { Branch, ExportedData, ExportedSession, ExportedTurn, State, TurnRow } from "../protocol.ts";
import { Query } from "../server/queries/query.ts";
import { allEntries, sessionDetails } from "../server/queries/session/session.ts";
import { lines, timeline } from "../server/queries/timeline/timeline.ts";
import { turnCommits } from "../server/queries/timeline/turn-commits.ts";
import { turn } from "../server/queries/turn/turn.ts";
import { NO_REPOSITORY } from "../server/repository/none.ts";
import type { OpenRepository } from "../server/repository/open.ts";
import { Repositories } from "../server/repository/repositories.ts";
import type { Context } from "../server/routes.ts";
import { changesOf, DiffBudget } from "./diffs.ts";
import { sessionFromStory } from "./from-story.ts";

/** Longer texts of a conversation are cut. */
const MAX_TEXT = 1 << 20;
const PAGE = "200";

/** One session: its node, and its summary if no conversation is stored. */
export interface SessionWithStory {
  node: SessionNode;
  story: SessionStory;
}

/** `repository` is null where nothing is recorded; its answers are redacted. */
export async function collect(
  repository: OpenRepository | null,
  told: readonly SessionWithStory[],
  name: string,
): Promise<ExportedData> {
  const agents = new Set(told.map(({ node }) => node.agent));
  const data: ExportedData = {
    v: 1,
    state: await stateOf(name, agents),
    sessions: [],
    turns: [],
    branches: [],
    changes: {},
  };
  const branches = new Map<string, Branch>();
  const budget = new DiffBudget();
  for (const { node, story } of told) {
    data.sessions.push(await exportedSession(repository, node, story));
    if (!repository) continue;
    const context = contextOf(repository);
    for (const row of await rowsOf(context, node.id, branches)) {
      const details = await turn(context, query({ id: row.id }));
      const commits = details.commits.map((commit) => ({ ...commit, author: "" }));
      data.turns.push({ row, details: { ...details, turn: row, commits } });
      for (const id of [row.id, ...row.subagents.map((subagent) => subagent.id)]) {
        const found = await changesOf(context, id, budget);
        if (found) data.changes[id] = found;
      }
    }
  }
  data.turns = inOrder(data.turns);
  data.branches = [...branches.values()];
  return data;
}

async function stateOf(name: string, wanted: ReadonlySet<string>): Promise<State> {
  const known = (await listAgents()).filter(({ profile }) => wanted.has(profile.id));
  return {
    version,
    instance: "",
    readOnly: true,
    exportedAt: now().toISOString(),
    // Nothing about the machine that the file was made on.
    repository: { ...NO_REPOSITORY, name },
    agents: Object.fromEntries(known.map(({ profile }) => [profile.id, profile.display_name])),
    available: { search: false, report: false, proposals: false },
    redo: false,
  };
}

async function exportedSession(
  repository: OpenRepository | null,
  node: SessionNode,
  story: SessionStory,
): Promise<ExportedSession> {
  const entries = repository ? await allEntries(repository, node, MAX_TEXT) : [];
  if (!repository || entries.length === 0) return sessionFromStory(story);
  const details = await sessionDetails(repository, node);
  return { details: { ...details, resume: null, session: withoutPlaces(details.session) }, entries };
}

/** A directory of this machine says nothing to others, and a log is not in the file. */
function withoutPlaces<Row extends { worktree: string | null; log: boolean; children: Row[] }>(row: Row): Row {
  return { ...row, worktree: null, log: false, children: row.children.map(withoutPlaces) };
}

async function rowsOf(context: Context, session: string, branches: Map<string, Branch>): Promise<TurnRow[]> {
  const rows: TurnRow[] = [];
  let before: string | null = null;
  do {
    const page = await timeline(context, query({ session, limit: PAGE, ...(before === null ? {} : { before }) }));
    for (const branch of page.branches) branches.set(branch.id, branch);
    rows.push(...page.items.filter((item) => item.kind === "turn"));
    before = page.next;
  } while (before !== null);
  const counts: Record<string, TurnRow["lines"]> = {};
  const commits: Record<string, string> = {};
  for (let i = 0; i < rows.length; i += Number(PAGE)) {
    const turns = rows.slice(i, i + Number(PAGE)).map(({ id }) => id);
    Object.assign(counts, (await lines(context, query({ turns: turns.join(",") }))).lines);
    Object.assign(commits, (await turnCommits(context, query({ turns: turns.join(",") }))).commits);
  }
  return rows.map((row) => ({ ...row, worktree: "", lines: counts[row.id] ?? null, commit: commits[row.id] ?? null }));
}

/** Newest first, each with its neighbors in the file. */
function inOrder(turns: readonly ExportedTurn[]): ExportedTurn[] {
  const time = ({ row }: ExportedTurn) => row.startedAt ?? row.endedAt ?? "";
  const sorted = turns.toSorted((a, b) => (time(a) < time(b) ? 1 : time(a) > time(b) ? -1 : 0));
  return sorted.map(({ row, details }, i) => ({
    row,
    details: { ...details, previous: sorted[i + 1]?.row.id ?? null, next: sorted[i - 1]?.row.id ?? null },
  }));
}

function contextOf(repository: OpenRepository): Context {
  const repositories = new Repositories(repository.workspace);
  return { version, instance: "", readOnly: true, executable: "", repositories, repository };
}

function query(parameters: Record<string, string>): Query {
  return new Query(new URLSearchParams(parameters));
}
