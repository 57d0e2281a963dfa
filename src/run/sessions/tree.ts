/**
 * Merges runs, recorded sessions and imported sessions into one tree. In an enabled repository we log a run and the
 * agent's hooks record it under the same id: the two are one session.
 */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Workspace } from "../../git/workspace.ts";
import type { Cost } from "../../transcripts/prices.ts";
import { findRunner } from "../agents.ts";
import { nameOf } from "../log/layout.ts";
import { nodesIn, type RunNode, readTree } from "../log/tree.ts";
import type { SessionNode } from "./model.ts";
import { importedNodes, recordedNodes } from "./recorded.ts";

/** A run's hooks may arrive shortly after the run ends. */
const LATE_MS = 60_000;

/** Newest first. `logs` is the directory for logs of runs started here. */
export async function sessionTree(workspace: Workspace | undefined, logs: string): Promise<SessionNode[]> {
  const known = new Map<string, SessionNode>();
  const add = (node: SessionNode) => {
    const key = keyOf(node.agent, node.id);
    const other = known.get(key);
    known.set(key, other ? united(other, node) : node);
  };
  if (workspace) for (const node of recordedNodes(workspace)) add(node);
  for (const place of logPlaces(workspace, logs)) {
    const runs = nodesIn(await readTree(place));
    const names = new Map<string, string>();
    for (const { agent } of runs) {
      if (!names.has(agent)) names.set(agent, (await findRunner(agent))?.profile.id ?? agent);
    }
    for (const run of runs) add(runNode(run, names.get(run.agent) ?? run.agent));
  }
  if (workspace) for (const node of await importedNodes(workspace)) add(node);
  return linked([...known.values()]);
}

/** Runs in a linked worktree are logged where they were started, usually the main work tree. */
function logPlaces(workspace: Workspace | undefined, logs: string): Set<string> {
  const places = new Set([logs]);
  if (workspace?.kind === "repository" && basename(workspace.commonDir) === ".git") {
    places.add(join(dirname(workspace.commonDir), ".aiwr", "logs"));
  }
  return places;
}

function runNode(run: RunNode, agent: string): SessionNode {
  const changed = run.ended ?? statSync(run.path, { throwIfNoEntry: false })?.mtimeMs ?? run.at;
  return {
    id: run.id,
    agent,
    status: run.status,
    parent: run.parent,
    prompt: run.prompt,
    model: null,
    tags: [...run.tags],
    startedAt: isoTime(run.at),
    updatedAt: isoTime(changed) ?? new Date(0).toISOString(),
    turns: run.runs,
    steps: 0,
    tokens: run.usage?.tokens ?? null,
    cost: run.usage?.cost ?? null,
    worktree: null,
    log: { path: run.path, agent: run.agent },
    recorded: false,
    imported: false,
    tasks: [],
    children: [],
  };
}

/** Null if the number is not a valid time: anyone may have edited the index of logs. */
function isoTime(ms: number): string | null {
  const time = new Date(ms);
  return ms > 0 && !Number.isNaN(time.getTime()) ? time.toISOString() : null;
}

/** `a` is a recorded session or another log. */
function united(a: SessionNode, b: SessionNode): SessionNode {
  // Hooks may record more of a session that the user continued in a terminal.
  const later = Date.parse(a.updatedAt) > Date.parse(b.updatedAt) + LATE_MS;
  const isOpen = a.status === "running" || a.status === "waiting";
  const status = b.imported || (b.status !== "running" && later && isOpen) ? a.status : b.status;
  return {
    ...a,
    status,
    parent: a.parent ?? b.parent,
    prompt: a.prompt === "" ? b.prompt : a.prompt,
    model: a.model ?? b.model,
    tags: [...new Set([...a.tags, ...b.tags])],
    startedAt: earlier(a.startedAt, b.startedAt),
    updatedAt: a.updatedAt > b.updatedAt ? a.updatedAt : b.updatedAt,
    turns: Math.max(a.turns, b.turns),
    tokens: a.tokens ?? b.tokens,
    cost: costOf(a, b),
    log: a.log ?? b.log,
    imported: a.imported || b.imported,
  };
}

/** The cost that the agent reports is better than an estimate, if it covers all turns. */
function costOf(a: SessionNode, b: SessionNode): Cost | null {
  const isReported = b.cost && !b.cost.estimated && b.turns >= a.turns;
  return isReported ? b.cost : (a.cost ?? (a.tokens ? null : b.cost));
}

/** Puts every session below its known parent. A session that would be its own ancestor becomes a root. */
function linked(nodes: readonly SessionNode[]): SessionNode[] {
  const byName = new Map(nodes.map((node) => [nameOf(node.id), node]));
  const parentOf = (node: SessionNode) => (node.parent === null ? undefined : byName.get(nameOf(node.parent)));
  const roots: SessionNode[] = [];
  for (const node of nodes) {
    const parent = isCircular(node, parentOf) ? undefined : parentOf(node);
    (parent ? parent.children : roots).push(node);
  }
  for (const node of nodes) node.children.sort((a, b) => order(a.startedAt ?? a.updatedAt, b.startedAt ?? b.updatedAt));
  return roots.sort((a, b) => order(newestBelow(b), newestBelow(a)));
}

function isCircular(node: SessionNode, parentOf: (node: SessionNode) => SessionNode | undefined): boolean {
  const seen = new Set<SessionNode>();
  for (let above = parentOf(node); above && !seen.has(above); above = parentOf(above)) {
    if (above === node) return true;
    seen.add(above);
  }
  return false;
}

function newestBelow(node: SessionNode): string {
  return node.children.reduce((newest, child) => {
    const below = newestBelow(child);
    return below > newest ? below : newest;
  }, node.updatedAt);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

function keyOf(agent: string, id: string): string {
  return `${agent}\0${nameOf(id)}`;
}
