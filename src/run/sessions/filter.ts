/** Which sessions a person asks for: by agent, status, tag and time. */
import { UserError } from "../../base/errors.ts";
import { findRunner } from "../agents.ts";
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
  // As runs call them, or by the registry's names; also of agents that are no longer known.
  const agents = await Promise.all(
    (words.agent ?? []).map(async (name) => (await findRunner(name))?.profile.id ?? name),
  );
  return {
    agents: new Set(agents),
    statuses: new Set((words.status ?? []).map(statusOf)),
    tags: words.tag ?? [],
    since: words.since === undefined ? null : parseMoment(words.since, now, "first"),
    until: words.until === undefined ? null : parseMoment(words.until, now, "last"),
  };
}

/** Every kind of condition must hold; of several agents or statuses one is enough, of tags all are wanted. */
export function matches(filter: Filter, node: SessionNode): boolean {
  const { agents, statuses, tags, since, until } = filter;
  if (agents.size > 0 && !agents.has(node.agent)) return false;
  if (statuses.size > 0 && !statuses.has(node.status)) return false;
  if (!tags.every((tag) => node.tags.includes(tag))) return false;
  if (since && Date.parse(node.updatedAt) < since.getTime()) return false;
  return !until || Date.parse(node.startedAt ?? node.updatedAt) <= until.getTime();
}

/** Those that are chosen; whoever's parent is not among them moves up. */
export function pruned(nodes: readonly SessionNode[], isChosen: (node: SessionNode) => boolean): SessionNode[] {
  return nodes.flatMap((node) => {
    const children = pruned(node.children, isChosen);
    return isChosen(node) ? [{ ...node, children }] : children;
  });
}

const AGO: Readonly<Record<string, number>> = { m: 60, min: 60, h: 3_600, d: 86_400, w: 604_800 };
const DAY_MS = 86_400_000;

/** "2d" (ago), "2026-11-17" (the user's own day: its first or last moment), or a time as ISO 8601 writes it. */
export function parseMoment(text: string, now: Date, edge: "first" | "last"): Date {
  const words = text.trim().toLowerCase();
  const ago = /^(\d{1,6})\s*(min|[mhdw])$/.exec(words);
  if (ago) return new Date(now.getTime() - Number(ago[1]) * (AGO[ago[2] ?? ""] ?? 0) * 1000);
  const day = /^(\d{4})-(\d{2})-(\d{2})$/.exec(words);
  if (day) {
    const [year, month, date] = [Number(day[1]), Number(day[2]), Number(day[3])];
    const first = new Date(year, month - 1, date);
    if (first.getMonth() === month - 1 && first.getDate() === date)
      return edge === "first" ? first : new Date(first.getTime() + DAY_MS - 1);
  }
  if (words === "today" || words === "yesterday") {
    const first = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (words === "today" ? 0 : 1));
    return edge === "first" ? first : new Date(first.getTime() + DAY_MS - 1);
  }
  const time = /^\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}/.test(words) ? new Date(text.trim()) : new Date(Number.NaN);
  if (!Number.isNaN(time.getTime())) return time;
  throw new UserError("usage", `"${text}" is not a time.`, "Give something like 2d, 3h, yesterday or 2026-11-17.");
}

function statusOf(text: string): SessionStatus {
  const found = STATUSES.find((status) => status === text.toLowerCase());
  if (found) return found;
  throw new UserError("usage", `"${text}" is no status.`, `There are ${STATUSES.join(", ")}.`);
}
