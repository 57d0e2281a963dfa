/**
 * What is known of logs without reading them: a line when a run begins, gets its session's name, and ends, at the end
 * of `.index.jsonl` beside the logs. It only spares work: what it doesn't know is read from the log itself, and where
 * a run's end is missing, whether its process is still there decides. docs/formats/runs.md specifies it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../agents/profile.ts";
import { appendLine } from "../base/files.ts";
import { isRunning, processStart } from "../base/processes.ts";
import { oneLine, shorten } from "../base/text.ts";
import type { RunStatus } from "./records.ts";

const FILE = ".index.jsonl";
const LONGEST_PROMPT = 200;
/** Every line begins so, which makes the name of its log readable without parsing it. */
const PREFIX = '{"v":1,"log":"';

export type Ending = Exclude<RunStatus, "running">;

/** What stays the same from a session's first run on. */
export interface Facts {
  agent: string;
  /** On one line, and shortened. */
  prompt: string;
  /** Also where the parent has no log. */
  parent: string | null;
  /** When the first run began, in milliseconds. */
  at: number;
}

/** The newest that is known of a log. */
export interface Entry extends Facts {
  /** Null while the run goes on, or was killed. */
  status: Ending | null;
  pid: number | null;
  start: string | null;
}

export function factsOf(start: { agent: string; prompt: string }, parent: string | null, at: number): Facts {
  const prompt = shorten(oneLine(start.prompt.slice(0, 4 * LONGEST_PROMPT)), LONGEST_PROMPT);
  return { agent: start.agent, prompt, parent, at };
}

/** `facts` of a session's first run; a run that continues one has none of its own. */
export function noteStart(logs: string, name: string, facts: Facts | null): void {
  const { pid } = process;
  note(logs, name, { ...facts, pid, start: processStart(pid) ?? null });
}

/** The log has got its session's name. */
export function noteName(logs: string, before: string, name: string): void {
  note(logs, name, { was: before });
}

export function noteEnd(logs: string, name: string, facts: Facts | null, status: Ending): void {
  note(logs, name, { ...facts, status });
}

function note(logs: string, name: string, value: object): void {
  try {
    appendLine(join(logs, FILE), JSON.stringify({ v: 1, log: name, ...value }));
  } catch {
    // Everything can be read from the logs.
  }
}

/** What is known of these logs; those that nothing is known of are missing. */
export function readLedger(logs: string, names: ReadonlySet<string>): Map<string, Entry> {
  const found = new Map<string, Partial<Entry>>();
  /** Names of our own that one of the logs had before. */
  const former = new Map<string, string>();
  for (const each of linesBackwards(logs)) {
    const name = former.get(each.log) ?? each.log;
    if (!names.has(name)) continue;
    const known = found.get(name);
    if (known?.agent !== undefined && known.status !== undefined) continue;
    const line = parse(each);
    if (!isRecord(line)) continue;
    if (typeof line["was"] === "string") former.set(line["was"], name);
    else found.set(name, known ? { ...entryIn(line), ...known } : entryIn(line));
  }
  const entries = new Map<string, Entry>();
  for (const [name, { agent, prompt, parent, at, status, pid, start }] of found) {
    if (agent === undefined || prompt === undefined) continue;
    const told = { agent, prompt, parent: parent ?? null, at: at ?? 0 };
    entries.set(name, { ...told, status: status ?? null, pid: pid ?? null, start: start ?? null });
  }
  return entries;
}

/** The name that an agent has told for a run that was named by us. */
export function nameSince(logs: string, own: string): string | undefined {
  for (const each of linesBackwards(logs)) {
    const line = parse(each);
    if (isRecord(line) && line["was"] === own && typeof line["log"] === "string") return line["log"];
  }
  return undefined;
}

/** The newest first. A last line that a kill has torn begins like the others and is no JSON. */
function linesBackwards(logs: string): Line[] {
  let text: string;
  try {
    text = readFileSync(join(logs, FILE), "utf8");
  } catch {
    return [];
  }
  const lines: Line[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith(PREFIX)) lines.push({ log: line.slice(PREFIX.length, line.indexOf('"', PREFIX.length)), line });
  }
  return lines.reverse();
}

interface Line {
  log: string;
  line: string;
}

function parse({ line }: Line): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Only what the line has. */
function entryIn(line: Record<string, unknown>): Partial<Entry> {
  const { agent, prompt, parent, at, status, pid, start } = line;
  const entry: Partial<Entry> = {};
  if (typeof agent === "string" && typeof prompt === "string") {
    Object.assign(entry, { agent, prompt, parent: typeof parent === "string" ? parent : null });
    entry.at = typeof at === "number" && Number.isFinite(at) ? at : 0;
  }
  if (isEnding(status)) entry.status = status;
  else if (typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0) {
    Object.assign(entry, { status: null, pid, start: typeof start === "string" ? start : null });
  }
  return entry;
}

function isEnding(value: unknown): value is Ending {
  return value === "completed" || value === "failed" || value === "interrupted";
}

export function isAlive(entry: Entry): boolean {
  return entry.status === null && entry.pid !== null && isRunning(entry.pid, entry.start ?? undefined);
}
