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
import { type Tokens, tokenCount } from "../transcripts/model.ts";
import { END_STATUSES, type EndStatus } from "./records.ts";
import { plus, type Usage } from "./result.ts";

const FILE = ".index.jsonl";
const LONGEST_PROMPT = 200;
const NO_TAGS: readonly string[] = [];
/** Every line begins so, which makes the name of its log readable without parsing it. */
const PREFIX = '{"v":1,"log":"';

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
  status: EndStatus | null;
  pid: number | null;
  start: string | null;
  tags: readonly string[];
  /** When the last run ended, in milliseconds; null where nobody of ours has seen it. */
  ended: number | null;
  /** Of all its runs that have ended; null where nothing was told. */
  usage: Usage | null;
  /** How many there were in it. */
  runs: number;
}

export interface Ending {
  status: EndStatus;
  usage?: Usage;
  ended?: number;
  tags?: readonly string[];
}

export function factsOf(start: { agent: string; prompt: string }, parent: string | null, at: number): Facts {
  const prompt = shorten(oneLine(start.prompt.slice(0, 4 * LONGEST_PROMPT)), LONGEST_PROMPT);
  return { agent: start.agent, prompt, parent, at };
}

/** `facts` of a session's first run; a run that continues one has none of its own. */
export function noteStart(logs: string, name: string, facts: Facts | null, tags: readonly string[]): void {
  const { pid } = process;
  note(logs, name, { ...facts, pid, start: processStart(pid) ?? null, ...(tags.length > 0 && { tags }) });
}

/** The log has got its session's name. */
export function noteName(logs: string, before: string, name: string): void {
  note(logs, name, { was: before });
}

export function noteEnd(
  logs: string,
  name: string,
  facts: Facts | null,
  { tags = [], usage, ...ending }: Ending,
): void {
  note(logs, name, { ...facts, ...ending, ...(usage && amounts(usage)), ...(tags.length > 0 && { tags }) });
}

function amounts({ tokens, cost }: Usage): object {
  return { tokens, cost: cost?.usd ?? null, ...(cost?.estimated && { estimated: true }) };
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
    else found.set(name, known ? joined(entryIn(line), known) : entryIn(line));
  }
  const entries = new Map<string, Entry>();
  for (const [name, told] of found) {
    const { agent, prompt, parent = null, at = 0, status = null, pid = null, start = null } = told;
    const { tags = NO_TAGS, ended = null, usage = null, runs = 1 } = told;
    if (agent === undefined || prompt === undefined) continue;
    entries.set(name, { agent, prompt, parent, at, status, pid, start, tags, ended, usage, runs });
  }
  return entries;
}

/** The newer line counts, but what was used and how often is summed up. */
function joined(older: Partial<Entry>, newer: Partial<Entry>): Partial<Entry> {
  const tags = [...new Set([...(older.tags ?? []), ...(newer.tags ?? [])])];
  const usage = older.usage && newer.usage ? plus(older.usage, newer.usage) : (older.usage ?? newer.usage ?? null);
  return { ...older, ...newer, tags, usage, runs: (older.runs ?? 0) + (newer.runs ?? 0) };
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
  // A run that continues has a line for its beginning; the first one is told with the session's facts.
  const begins = typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0;
  entry.runs = entry.agent !== undefined || begins ? 1 : 0;
  entry.tags = Array.isArray(line["tags"]) ? line["tags"].filter((tag) => typeof tag === "string") : NO_TAGS;
  entry.usage = usageOf(line);
  if (typeof line["ended"] === "number") entry.ended = line["ended"];
  if (isEnding(status)) entry.status = status;
  else if (begins) {
    Object.assign(entry, { status: null, pid, start: typeof start === "string" ? start : null });
  }
  return entry;
}

function isEnding(value: unknown): value is EndStatus {
  return END_STATUSES.includes(value as EndStatus);
}

function usageOf({ tokens, cost, estimated }: Record<string, unknown>): Usage | null {
  if (!isRecord(tokens)) return null;
  const count = (name: keyof Tokens) => tokenCount(tokens[name]);
  return {
    tokens: {
      input: count("input"),
      output: count("output"),
      cacheRead: count("cacheRead"),
      cacheWrite: count("cacheWrite"),
    },
    cost: typeof cost === "number" && Number.isFinite(cost) ? { usd: cost, estimated: estimated === true } : null,
  };
}

export function isAlive(entry: Entry): boolean {
  return entry.status === null && entry.pid !== null && isRunning(entry.pid, entry.start ?? undefined);
}
