/**
 * What is known of logs without reading them: one line when a run begins and one when it ends, at the end of
 * `.index.jsonl` beside the logs. It only spares work: what it doesn't know is read from the log itself, and where a
 * run's end is missing, whether its process is still there decides.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../agents/profile.ts";
import { appendLine } from "../base/files.ts";
import { isRunning, processStart } from "../base/processes.ts";
import { oneLine, shorten } from "../base/text.ts";
import { completeLines, parseLine } from "../transcripts/lines.ts";
import type { RunStatus, StartRecord } from "./records.ts";

const FILE = ".index.jsonl";
const LONGEST_PROMPT = 200;

/** The newest that is known of a log. */
export interface Entry {
  agent: string;
  prompt: string;
  /** Null while the run goes on, or was killed. */
  status: Exclude<RunStatus, "running"> | null;
  pid: number | null;
  start: string | null;
  parent: string | null;
  /** The later, the more. */
  order: number;
}

export function noteStart(logs: string, name: string, start: StartRecord, parent: string | null): void {
  const prompt = shorten(oneLine(start.prompt.slice(0, 4 * LONGEST_PROMPT)), LONGEST_PROMPT);
  const { pid } = process;
  note(logs, { v: 1, log: name, agent: start.agent, prompt, parent, pid, start: processStart(pid) ?? null });
}

/** The log has got its session's name. */
export function noteName(logs: string, before: string, name: string): void {
  note(logs, { v: 1, log: name, was: before });
}

export function noteEnd(logs: string, name: string, status: Exclude<RunStatus, "running">): void {
  note(logs, { v: 1, log: name, status });
}

/** What was read from a log itself. */
export function noteRead(logs: string, name: string, entry: Entry): void {
  note(logs, { v: 1, log: name, agent: entry.agent, prompt: entry.prompt, parent: entry.parent, status: entry.status });
}

function note(logs: string, value: object): void {
  try {
    appendLine(join(logs, FILE), JSON.stringify(value));
  } catch {
    // Everything can be read from the logs.
  }
}

export interface Ledger {
  entries: Map<string, Entry>;
  /** Names of our own → those that the agents told later. */
  names: Map<string, string>;
}

export function readLedger(logs: string): Ledger {
  const ledger: Ledger = { entries: new Map(), names: new Map() };
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(logs, FILE));
  } catch {
    return ledger;
  }
  for (const at of completeLines(bytes)) take(ledger, parseLine(bytes, at));
  return ledger;
}

function take({ entries, names }: Ledger, line: unknown): void {
  if (!isRecord(line) || line["v"] !== 1 || typeof line["log"] !== "string") return;
  const name = line["log"];
  const { was, agent, prompt, parent, status, pid, start } = line;
  if (typeof was === "string") {
    names.set(was, name);
    const entry = entries.get(was);
    if (entry) entries.set(name, entry);
    return;
  }
  const known = isStatus(status) ? status : null;
  const entry = entries.get(name);
  if (typeof agent === "string" && typeof prompt === "string") {
    entries.set(name, {
      agent,
      // A session that is continued is known by its first prompt.
      prompt: entry?.prompt ?? prompt,
      status: known,
      pid: typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 ? pid : null,
      start: typeof start === "string" ? start : null,
      parent: entry?.parent ?? (typeof parent === "string" ? parent : null),
      order: entries.size,
    });
  } else if (entry && known) entries.set(name, { ...entry, status: known, pid: null });
}

function isStatus(value: unknown): value is Exclude<RunStatus, "running"> {
  return value === "completed" || value === "failed" || value === "interrupted";
}

export function isAlive(entry: Entry): boolean {
  return entry.status === null && entry.pid !== null && isRunning(entry.pid, entry.start ?? undefined);
}

/** At most so many bytes of a file from its beginning, and from its end. */
export function edgesOf(path: string, head: number, tail: number): { head: Buffer; tail: Buffer; whole: boolean } {
  const { size } = statSync(path);
  const fd = openSync(path, "r");
  try {
    const read = (length: number, from: number): Buffer => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(fd, bytes, 0, length, from));
    };
    const whole = size <= tail;
    return { head: read(Math.min(head, size), 0), tail: whole ? read(size, 0) : read(tail, size - tail), whole };
  } finally {
    closeSync(fd);
  }
}
