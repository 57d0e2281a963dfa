/** All runs as one tree: who started whom, with agent, prompt and status, without reading logs that are known. */
import { statSync } from "node:fs";
import { findRunner, type Runner } from "./agents.ts";
import { endOf, headOf } from "./edges.ts";
import { dropSecondName, flatten, type LogFile, walkLogs } from "./layout.ts";
import { type Entry, factsOf, isAlive, noteEnd, noteName, readLedger } from "./ledger.ts";
import type { RunStatus } from "./records.ts";
import type { Usage } from "./result.ts";

export interface RunNode {
  /** The session's id, as its log is named. */
  id: string;
  path: string;
  date: string;
  agent: string;
  /** Of the first run; on one line and shortened. */
  prompt: string;
  status: RunStatus;
  /** Also where the parent has no log of its own. */
  parent: string | null;
  /** When the first run began, in milliseconds. */
  at: number;
  tags: readonly string[];
  /** When the last run ended, in milliseconds. */
  ended: number | null;
  usage: Usage | null;
  runs: number;
  children: RunNode[];
}

/** Days newest first, and the newest sessions of each first; children in the order in which they were started. */
export async function readTree(logs: string): Promise<RunNode[]> {
  const files = walkLogs(logs);
  const all = flatten(files);
  const entries = readLedger(logs, new Set(all.map((file) => file.name)));
  const unsettled = all.filter((file) => isUnsettled(entries.get(file.name)));
  if (dropSecondNames(logs, unsettled, all)) return readTree(logs);
  if (unsettled.length > 0) await settle(logs, unsettled, entries);
  const nodes = files.map((file) => nodeOf(file, null, entries));
  return nodes.sort((a, b) => (a.date === b.date ? b.at - a.at : a.date < b.date ? 1 : -1));
}

export function nodesIn(nodes: readonly RunNode[]): RunNode[] {
  return nodes.flatMap((node) => [node, ...nodesIn(node.children)]);
}

function nodeOf(file: LogFile, parent: string | null, entries: ReadonlyMap<string, Entry>): RunNode {
  const entry = entries.get(file.name);
  const children = file.children.map((child) => nodeOf(child, file.name, entries));
  if (children.length > 1) children.sort((a, b) => a.at - b.at);
  return {
    id: file.name,
    path: file.path,
    date: file.date,
    agent: entry?.agent ?? "unknown",
    prompt: entry?.prompt ?? "",
    // Whatever is dead has been settled.
    status: entry ? (entry.status ?? "running") : "interrupted",
    parent: parent ?? entry?.parent ?? null,
    at: entry?.at ?? 0,
    tags: entry?.tags ?? [],
    ended: entry?.ended ?? null,
    usage: entry?.usage ?? null,
    runs: entry?.runs ?? 1,
    children,
  };
}

/** Nothing is known of it, or its run was killed. */
function isUnsettled(entry: Entry | undefined): boolean {
  return entry === undefined || (entry.status === null && !isAlive(entry));
}

/** Whether there were any. What is known of the run goes with its log. */
function dropSecondNames(logs: string, unsettled: readonly LogFile[], all: readonly LogFile[]): boolean {
  let dropped = false;
  for (const file of unsettled) {
    const other = dropSecondName(file, all);
    if (!other) continue;
    noteName(logs, file.name, other.name);
    dropped = true;
  }
  return dropped;
}

/** What the logs themselves tell; another tool may have written them. Noted, so that they are read once. */
async function settle(logs: string, files: readonly LogFile[], entries: Map<string, Entry>): Promise<void> {
  const runners = new Map<string, Runner | undefined>();
  for (const file of files) {
    try {
      const { start, parent, tags } = headOf(file.path);
      const known = entries.get(file.name);
      const agent = known?.agent ?? start?.agent ?? "unknown";
      if (!runners.has(agent)) runners.set(agent, await findRunner(agent));
      const status = endOf(file.path, runners.get(agent)?.run.stream);
      const told = { agent, prompt: start?.prompt ?? "" };
      const facts = known ?? factsOf(told, parent, statSync(file.path).mtimeMs);
      const more = known ?? { tags, ended: null, usage: null, runs: 1 };
      entries.set(file.name, { ...more, ...facts, status, pid: null, start: null });
      noteEnd(logs, file.name, known ? null : facts, { status, ...(!known && { tags }) });
    } catch {
      // It has just been moved or removed; the next look will tell.
    }
  }
}
