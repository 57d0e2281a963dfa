/** `sessions`: lists runs, recorded sessions, their subagents and their child sessions as one tree. */

import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { plural } from "../../../base/text.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { runWorktrees } from "../../../git/worktrees/runs.ts";
import type { RunWorktreeStatus } from "../../../restore/fork/stale-worktrees.ts";
import { filterOf, matches, pruned } from "../../../run/sessions/filter.ts";
import { shortIds } from "../../../run/sessions/find.ts";
import { inOrder, type SessionNode } from "../../../run/sessions/model.ts";
import type { Hit } from "../../../run/sessions/search.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { runWorktreeJson, runWorktreeLines } from "../../render/run-worktrees.ts";
import { sessionJson, sessionTreeLines } from "../../render/sessions/list.ts";
import { type LoadedSessions, loadSessions } from "../../shared/load-sessions.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { sessionsListCommand } from "./commands.ts";

const USUAL = 20;

type Options = OptionsOf<typeof sessionsListCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const known = await loadSessions(io);
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
  // Filtered lists omit the worktrees.
  const isAsked = known.nodes.length === nodes.length && worktrees.length > 0;
  const left = isAsked ? [paint("bold", "Worktrees of runs"), ...runWorktreeLines(worktrees, paint, columns)] : [];
  if (nodes.length === 0) {
    const some = known.nodes.length > 0;
    io.say(some ? "No session matches." : "No sessions yet. Start an agent as usual, or use `backtrail run`.");
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
    io.say(io.err.paint("dim", `${plural(nodes.length - shown.length, "more session")}; use --limit 0 for all.`));
  }
}

/** Also works if nothing is recorded here. */
async function leftByRuns(io: Io): Promise<RunWorktreeStatus[]> {
  const workspace = findWorkspace(io.cwd);
  if (!workspace || runWorktrees(workspace).length === 0) return [];
  const { runWorktreeStatuses } = await import("../../../restore/fork/stale-worktrees.ts");
  return runWorktreeStatuses(workspace);
}

/** Keyed by id, because the tree is pruned again. */
async function search(
  { workspace }: LoadedSessions,
  nodes: readonly SessionNode[],
  text: string,
  io: Io,
): Promise<Map<string, Hit>> {
  if (text.trim() === "") throw new UserError("usage", "The search is empty.", "Give --search some words.");
  const { searchSessions } = await import("../../../run/sessions/search.ts");
  const { addIndexedHits } = await import("./indexed-hits.ts");
  const found = await withProgress(io, "Searching", async () => {
    const hits = await searchSessions(workspace, nodes, text);
    await addIndexedHits(workspace, nodes, text, hits);
    return hits;
  });
  return new Map([...found].map(([node, hit]) => [node.id, hit]));
}

function asEntry<T>(node: SessionNode, hit: T | undefined): [SessionNode, T][] {
  return hit === undefined ? [] : [[node, hit]];
}
