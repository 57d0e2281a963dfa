/** Builds the tree of all runs with agent, prompt and status. Reads only logs that the index does not know. */
import { statSync } from "node:fs";
import { findRunner, type Runner } from "../agents.ts";
import type { Usage } from "../result.ts";
import { type Entry, factsOf, isAlive, noteEnd, noteName, readLedger } from "./index-file.ts";
import { dropSecondName, flatten, type LogFile, walkLogs } from "./layout.ts";
import { endOf, headOf, startIn } from "./log-ends.ts";
import type { RunStatus } from "./records.ts";

export interface RunNode {
  /** The session's id, as in the log's file name. */
  id: string;
  path: string;
  date: string;
  agent: string;
  /** The prompt of the first run, on one line and shortened. */
  prompt: string;
  status: RunStatus;
  /** Set even if the parent has no log. */
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

/** Newest day first, and newest session first within a day; children in the order they started. */
export async function readTree(logs: string): Promise<RunNode[]> {
  const files = walkLogs(logs);
  const all = flatten(files);
  const entries = readLedger(logs, new Set(all.map((file) => file.name)));
  const unsettled = all.filter((file) => isUnsettled(entries.get(file.name)));
  if (dropSecondNames(logs, unsettled, all)) return readTree(logs);
  if (unsettled.length > 0) await settle(logs, unsettled, entries);
  const nodes = underParents(files.map((file) => nodeOf(file, null, entries)));
  return nodes.sort((a, b) => (a.date === b.date ? b.at - a.at : a.date < b.date ? 1 : -1));
}

export function nodesIn(nodes: readonly RunNode[]): RunNode[] {
  return nodes.flatMap((node) => [node, ...nodesIn(node.children)]);
}

/** Moves each child that names its parent (`aiwr_meta`) below that parent, wherever the child's log is. */
function underParents(roots: readonly RunNode[]): RunNode[] {
  const all = new Map(nodesIn(roots).map((node) => [node.id, node]));
  const strays = roots.filter((node) => {
    const parent = node.parent === null ? undefined : all.get(node.parent);
    return parent !== undefined && !nodesIn([node]).includes(parent);
  });
  for (const node of strays) {
    const parent = all.get(node.parent ?? "");
    // Two logs may name each other: a node that is already an ancestor of its parent stays where it is.
    if (!parent || nodesIn([node]).includes(parent)) continue;
    parent.children.push(node);
    parent.children.sort((a, b) => a.at - b.at);
  }
  const below = new Set(roots.flatMap((root) => nodesIn(root.children)));
  return roots.filter((root) => !below.has(root));
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
    // Dead runs have been settled by now, so a run without a status is alive.
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

/** True if the index does not know the log, or its run was killed. */
function isUnsettled(entry: Entry | undefined): boolean {
  return entry === undefined || (entry.status === null && !isAlive(entry));
}

/** Returns whether any second name was removed. The index entry moves to the remaining name. */
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

/** Reads the facts from the logs, which another tool may have written, and adds them to the index for the next time. */
async function settle(logs: string, files: readonly LogFile[], entries: Map<string, Entry>): Promise<void> {
  const runners = new Map<string, Runner | undefined>();
  for (const file of files) {
    try {
      const head = headOf(file.path);
      const { parent, tags } = head;
      const known = entries.get(file.name);
      const start = known ? null : await startIn(head);
      const agent = known?.agent ?? start?.agent ?? "unknown";
      if (!runners.has(agent)) runners.set(agent, await findRunner(agent));
      const status = endOf(file.path, runners.get(agent)?.run.stream);
      const origin = { agent, prompt: start?.prompt ?? "" };
      const facts = known ?? factsOf(origin, parent, statSync(file.path).mtimeMs);
      const more = known ?? { tags, ended: null, usage: null, runs: 1 };
      entries.set(file.name, { ...more, ...facts, status, pid: null, start: null });
      noteEnd(logs, file.name, known ? null : facts, { status, ...(!known && { tags }) });
    } catch {
      // The log was just moved or removed; the next call finds it.
    }
  }
}
