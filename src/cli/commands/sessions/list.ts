/** `sessions`: runs, recorded sessions, their subagents and what they started, as one tree. */
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { plural } from "../../../base/text.ts";
import { runWorktrees } from "../../../git/run-worktrees.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import type { RunStanding } from "../../../restore/fork/spent.ts";
import { type FilterWords, filterOf, matches, pruned } from "../../../run/sessions/filter.ts";
import { shortIds } from "../../../run/sessions/find.ts";
import { inOrder, type SessionNode } from "../../../run/sessions/model.ts";
import type { Hit } from "../../../run/sessions/search.ts";
import type { Io } from "../../io.ts";
import { type KnownSessions, knownSessions } from "../../looking-at-sessions.ts";
import { page } from "../../pager.ts";
import { withProgress } from "../../progress.ts";
import { runWorktreeJson, runWorktreeLines } from "../../render/run-worktrees.ts";
import { sessionJson, sessionTreeLines } from "../../render/sessions.ts";

const USUAL = 20;

interface Options extends FilterWords {
  search?: string;
  limit?: number;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  const known = await knownSessions(io);
  const filter = await filterOf(options, now());
  const candidates = pruned(known.nodes, (node) => matches(filter, node));
  const hits = options.search === undefined ? undefined : await search(known, candidates, options.search, io);
  const nodes = hits ? pruned(candidates, (node) => hits.has(node.id)) : candidates;
  const shown = options.limit === 0 ? nodes : nodes.slice(0, options.limit ?? (options.json ? nodes.length : USUAL));
  const worktrees = await leftByRuns(io);
  if (options.json) {
    const sessions = inOrder(shown).map((node) => sessionJson(node, hits?.get(node.id)));
    io.json({ sessions, worktrees: worktrees.map(runWorktreeJson) });
    return;
  }
  const { paint, columns } = io.out;
  // Whoever looks for some sessions doesn't look for these.
  const isAsked = known.nodes.length === nodes.length && worktrees.length > 0;
  const left = isAsked ? [paint("bold", "Worktrees of runs"), ...runWorktreeLines(worktrees, paint, columns)] : [];
  if (nodes.length === 0) {
    const some = known.nodes.length > 0;
    io.say(some ? "No session is like that." : "There are no sessions here yet. `backtrail run` starts one.");
    if (left.length > 0) io.print(left.join("\n"));
    return;
  }
  const ids = shortIds(inOrder(known.nodes));
  const named = new Map(inOrder(known.nodes).map((node) => [node.id, ids.get(node) ?? node.id]));
  const all = inOrder(shown);
  const view = {
    paint,
    columns,
    now: now(),
    ids: new Map(all.map((node) => [node, named.get(node.id) ?? node.id])),
    hits: new Map(all.flatMap((node) => asEntry(node, hits?.get(node.id)))),
  };
  const lines = sessionTreeLines(shown, view);
  if (left.length > 0) lines.push("", ...left);
  await page(io, lines.join("\n"));
  if (isAsked && worktrees.some(({ why }) => why === null)) {
    io.say(io.err.paint("dim", "`backtrail clean` removes worktrees that are empty or merged."));
  }
  if (shown.length < nodes.length) {
    io.say(io.err.paint("dim", `${plural(nodes.length - shown.length, "more session")}; --limit 0 shows them all.`));
  }
}

/** Also where nothing is recorded. */
async function leftByRuns(io: Io): Promise<RunStanding[]> {
  const workspace = findWorkspace(io.cwd);
  if (!workspace || runWorktrees(workspace).length === 0) return [];
  const { runStandings } = await import("../../../restore/fork/spent.ts");
  return runStandings(workspace);
}

/** By id, since the tree is pruned once more. */
async function search(
  { workspace }: KnownSessions,
  nodes: readonly SessionNode[],
  text: string,
  io: Io,
): Promise<Map<string, Hit>> {
  if (text.trim() === "") throw new UserError("usage", "There is nothing to search for.", "Give --search some words.");
  const { searchSessions } = await import("../../../run/sessions/search.ts");
  const found = await withProgress(io, "Searching", () => searchSessions(workspace, nodes, text));
  return new Map([...found].map(([node, hit]) => [node.id, hit]));
}

function asEntry<T>(node: SessionNode, hit: T | undefined): [SessionNode, T][] {
  return hit === undefined ? [] : [[node, hit]];
}
