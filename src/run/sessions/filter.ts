/** Filters sessions by agent, status, tag and time. */

import { parseTime } from "../../base/time/parse.ts";
import { findRunner } from "../agents.ts";
import { RunError } from "../problems.ts";
import { type SessionNode, type SessionStatus, STATUSES } from "./model.ts";

export interface Filter {
  agents: ReadonlySet<string>;
  statuses: ReadonlySet<SessionStatus>;
  tags: readonly string[];
  since: Date | null;
  until: Date | null;
}

export interface FilterWords {
  agent?: readonly string[];
  status?: readonly string[];
  tag?: readonly string[];
  since?: string;
  until?: string;
}

export async function filterOf(words: FilterWords, now: Date): Promise<Filter> {
  // Accepts run names and registry ids, and passes on the names of agents that no longer exist.
  const agents = await Promise.all(
    (words.agent ?? []).map(async (name) => (await findRunner(name))?.profile.id ?? name),
  );
  return {
    agents: new Set(agents),
    statuses: new Set((words.status ?? []).map(statusOf)),
    tags: words.tag ?? [],
    since: words.since === undefined ? null : parseTime(words.since, now, "first"),
    until: words.until === undefined ? null : parseTime(words.until, now, "last"),
  };
}

/** All kinds of conditions must hold: any one of the agents and statuses, but every tag. */
export function matches(filter: Filter, node: SessionNode): boolean {
  const { agents, statuses, tags, since, until } = filter;
  if (agents.size > 0 && !agents.has(node.agent)) return false;
  if (statuses.size > 0 && !statuses.has(node.status)) return false;
  if (!tags.every((tag) => node.tags.includes(tag))) return false;
  if (since && Date.parse(node.updatedAt) < since.getTime()) return false;
  return !until || Date.parse(node.startedAt ?? node.updatedAt) <= until.getTime();
}

/** Keeps the chosen nodes; a child whose parent is dropped moves up. */
export function pruned(nodes: readonly SessionNode[], isChosen: (node: SessionNode) => boolean): SessionNode[] {
  return nodes.flatMap((node) => {
    const children = pruned(node.children, isChosen);
    return isChosen(node) ? [{ ...node, children }] : children;
  });
}

function statusOf(text: string): SessionStatus {
  const found = STATUSES.find((status) => status === text.toLowerCase());
  if (found) return found;
  throw new RunError("usage", { kind: "not-a-status", text, statuses: [...STATUSES] });
}
