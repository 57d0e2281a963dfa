/**
 * Owns `.index.jsonl`, an append-only index beside the logs, with a line when a run starts, receives its session's
 * name, and ends. The index is only a cache: missing facts are read from the log, and a run without an end is running
 * if its process is alive. docs/formats/runs.md specifies the format.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { appendGuardedLine, refuseLinks } from "../../base/fs/guarded-files.ts";
import { isRecord } from "../../base/json.ts";
import { isRunning, processStart } from "../../base/process/processes.ts";
import { oneLine, shorten } from "../../base/text.ts";
import { type Tokens, tokenCount } from "../../model/tokens.ts";
import { plus, type Usage } from "../result.ts";
import { guardRoot } from "./layout.ts";
import { END_STATUSES, type EndStatus } from "./records.ts";

const FILE = ".index.jsonl";
const MAX_PROMPT = 200;
const NO_TAGS: readonly string[] = [];
/** Every line starts with this prefix, so the name of its log can be read without parsing the line. */
const PREFIX = '{"v":1,"log":"';

/** The facts that a session's first run fixes. */
export interface RunMetadata {
  agent: string;
  /** One line, shortened. */
  prompt: string;
  /** Set even if the parent has no log. */
  parent: string | null;
  /** When the first run began, in milliseconds. */
  at: number;
}

/** The newest known state of a log. */
export interface Entry extends RunMetadata {
  /** Null while the run is in progress, or if it was killed. */
  status: EndStatus | null;
  pid: number | null;
  start: string | null;
  tags: readonly string[];
  /** When the last run ended, in milliseconds; null if we did not observe the end. */
  ended: number | null;
  /** The sum over all finished runs; null if the agent reported none. */
  usage: Usage | null;
  /** The number of runs in the log. */
  runs: number;
}

/** Throws if a link would redirect index lines to another file, so that the run does not start. */
export function requireLedger(logs: string): void {
  refuseLinks(guardRoot(logs), join(logs, FILE));
}

export interface Ending {
  status: EndStatus;
  usage?: Usage | null;
  ended?: number;
  tags?: readonly string[];
}

export function factsOf(start: { agent: string; prompt: string }, parent: string | null, at: number): RunMetadata {
  const prompt = shorten(oneLine(start.prompt.slice(0, 4 * MAX_PROMPT)), MAX_PROMPT);
  return { agent: start.agent, prompt, parent, at };
}

/** `facts` is null for a run that continues a session. */
export function noteStart(logs: string, name: string, facts: RunMetadata | null, tags: readonly string[]): void {
  const { pid } = process;
  note(logs, name, { ...facts, pid, start: processStart(pid) ?? null, ...(tags.length > 0 && { tags }) });
}

/** Records that the log was renamed to its session's name. */
export function noteName(logs: string, before: string, name: string): void {
  note(logs, name, { was: before });
}

export function noteEnd(
  logs: string,
  name: string,
  facts: RunMetadata | null,
  { tags = [], usage, ...ending }: Ending,
): void {
  note(logs, name, { ...facts, ...ending, ...(usage && amounts(usage)), ...(tags.length > 0 && { tags }) });
}

function amounts({ tokens, cost }: Usage): object {
  return { tokens, cost: cost?.usd ?? null, ...(cost?.estimated && { estimated: true }) };
}

function note(logs: string, name: string, value: object): void {
  try {
    appendGuardedLine(guardRoot(logs), join(logs, FILE), JSON.stringify({ v: 1, log: name, ...value }));
  } catch {
    // The index is optional: everything can be read from the logs.
  }
}

/** Returns the entries of the named logs; a log that the index does not know has no entry. */
export function readLedger(logs: string, names: ReadonlySet<string>): Map<string, Entry> {
  const found = new Map<string, Partial<Entry>>();
  /** Maps the generated names that logs had earlier to their current names. */
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
  for (const [name, entry] of found) {
    const { agent, prompt, parent = null, at = 0, status = null, pid = null, start = null } = entry;
    const { tags = NO_TAGS, ended = null, usage = null, runs = 1 } = entry;
    if (agent === undefined || prompt === undefined) continue;
    entries.set(name, { agent, prompt, parent, at, status, pid, start, tags, ended, usage, runs });
  }
  return entries;
}

/** The newer line wins, but usage and run counts add up and tags are merged. */
function joined(older: Partial<Entry>, newer: Partial<Entry>): Partial<Entry> {
  const tags = [...new Set([...(older.tags ?? []), ...(newer.tags ?? [])])];
  const usage = older.usage && newer.usage ? plus(older.usage, newer.usage) : (older.usage ?? newer.usage ?? null);
  return { ...older, ...newer, tags, usage, runs: (older.runs ?? 0) + (newer.runs ?? 0) };
}

/** The name that replaced the generated name `own` once the agent reported its session. */
export function nameSince(logs: string, own: string): string | undefined {
  for (const each of linesBackwards(logs)) {
    const line = parse(each);
    if (isRecord(line) && line["was"] === own && typeof line["log"] === "string") return line["log"];
  }
  return undefined;
}

/** Returns the lines newest first. A torn last line has the prefix like any other, but is not valid JSON. */
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

/** Returns only the fields that the line has. */
function entryIn(line: Record<string, unknown>): Partial<Entry> {
  const { agent, prompt, parent, at, status, pid, start } = line;
  const entry: Partial<Entry> = {};
  if (typeof agent === "string" && typeof prompt === "string") {
    Object.assign(entry, { agent, prompt, parent: typeof parent === "string" ? parent : null });
    entry.at = typeof at === "number" && Number.isFinite(at) ? at : 0;
  }
  // A continued run has a line for its start; the first run is counted by the line with the session's facts.
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
