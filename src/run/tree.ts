/** All runs as one tree: who started whom, with agent, prompt and status, without reading logs that are known. */
import { statSync } from "node:fs";
import { completeLines, parseLine } from "../transcripts/lines.ts";
import { findRunner, type Runner } from "./agents.ts";
import { type LogFile, walkLogs } from "./layout.ts";
import { type Entry, edgesOf, isAlive, type Ledger, noteEnd, noteRead, readLedger } from "./ledger.ts";
import { parentOf, type RunStatus, SEPARATOR, type StartRecord, startOf } from "./records.ts";
import { RunResult } from "./result.ts";
import { objectIn } from "./stream.ts";

const HEAD = 1024 * 1024;
const TAIL = 256 * 1024;

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
  children: RunNode[];
}

/** Days newest first, and the newest sessions of each first; children in the order in which they were started. */
export async function readTree(logs: string): Promise<RunNode[]> {
  const files = walkLogs(logs);
  const ledger = readLedger(logs);
  for (const file of unknownOf(files, ledger)) await learn(logs, file, ledger);
  const nodes = await Promise.all(files.map((file) => nodeOf(logs, file, null, ledger)));
  const order = ({ id }: RunNode) => ledger.entries.get(id)?.order ?? 0;
  return nodes.sort((a, b) => (a.date === b.date ? order(b) - order(a) : a.date < b.date ? 1 : -1));
}

export function nodesIn(nodes: readonly RunNode[]): RunNode[] {
  return nodes.flatMap((node) => [node, ...nodesIn(node.children)]);
}

/** Whose session a log is, as its first lines tell; null where they don't. */
export function agentOf(file: LogFile): string | null {
  return headOf(file).start?.agent ?? null;
}

async function nodeOf(logs: string, file: LogFile, parent: string | null, ledger: Ledger): Promise<RunNode> {
  const entry = ledger.entries.get(file.name);
  const children: RunNode[] = [];
  for (const child of file.children) children.push(await nodeOf(logs, child, file.name, ledger));
  const order = ({ id }: RunNode) => ledger.entries.get(id)?.order ?? 0;
  return {
    id: file.name,
    path: file.path,
    date: file.date,
    agent: entry?.agent ?? "unknown",
    prompt: entry?.prompt ?? "",
    status: entry ? await statusOf(logs, file, entry) : "interrupted",
    parent: parent ?? entry?.parent ?? null,
    children: children.sort((a, b) => order(a) - order(b)),
  };
}

async function statusOf(logs: string, file: LogFile, entry: Entry): Promise<RunStatus> {
  if (entry.status !== null) return entry.status;
  if (isAlive(entry)) return "running";
  const status = endOf(file, await findRunner(entry.agent));
  noteEnd(logs, file.name, status);
  return status;
}

/** Those that no line tells of, oldest first. */
function unknownOf(files: readonly LogFile[], { entries }: Ledger): LogFile[] {
  const unknown: LogFile[] = [];
  const visit = (list: readonly LogFile[]) => {
    for (const file of list) {
      if (!entries.has(file.name)) unknown.push(file);
      visit(file.children);
    }
  };
  visit(files);
  const age = new Map(unknown.map((file) => [file, statSync(file.path, { throwIfNoEntry: false })?.mtimeMs ?? 0]));
  return unknown.sort((a, b) => (age.get(a) ?? 0) - (age.get(b) ?? 0));
}

/** From the log itself; another tool may have written it. */
async function learn(logs: string, file: LogFile, { entries }: Ledger): Promise<void> {
  const { start, parent } = headOf(file);
  const runner = start && (await findRunner(start.agent));
  const entry: Entry = {
    agent: start?.agent ?? "unknown",
    prompt: start?.prompt ?? "",
    status: endOf(file, runner),
    pid: null,
    start: null,
    parent,
    order: entries.size,
  };
  entries.set(file.name, entry);
  noteRead(logs, file.name, entry);
}

function headOf(file: LogFile): { start: StartRecord | undefined; parent: string | null } {
  const { head } = edgesOf(file.path, HEAD, 0);
  let start: StartRecord | undefined;
  let parent: string | null = null;
  for (const at of completeLines(head)) {
    const line = parseLine(head, at);
    start ??= startOf(line);
    parent ??= parentOf(line) ?? null;
  }
  return { start, parent };
}

/** How the last run in a log ended, as its lines tell it. */
function endOf(file: LogFile, runner: Runner | undefined): "completed" | "failed" | "interrupted" {
  if (!runner) return "interrupted";
  const { tail, whole } = edgesOf(file.path, 0, TAIL);
  let result = new RunResult(runner.run.stream);
  let first = !whole;
  for (const { start, end } of completeLines(tail)) {
    const bytes = tail.subarray(start, end);
    // The line that the cut went through.
    if (!first && bytes.toString("latin1") === SEPARATOR) result = new RunResult(runner.run.stream);
    const value = first ? undefined : objectIn(bytes);
    if (value) result.take(value);
    first = false;
  }
  return result.status;
}
