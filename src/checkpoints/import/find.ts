/**
 * Finds the transcripts of an agent that belong to a work tree, by their first lines (the directory in which the agent
 * was started) or by their folder. Reads no more than that.
 */
import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, relative, sep } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { isCommandWord } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import { isInside } from "../../base/paths.ts";
import { readRange, withFile } from "../../transcripts/file-bytes.ts";

export interface FoundTranscript {
  path: string;
  session: string;
  size: number;
}

/** `time` (last write) and `born` (creation, 0 if unknown) are in milliseconds since 1970. */
export type NewTranscript = FoundTranscript & { time: number; born: number };

const MAX_DEPTH = 5;
const MAX_FILES = 50_000;
const HEAD_BYTES = 64 * 1024;
/** The first line may contain all of the model's instructions. */
const MAX_HEAD = 1024 * 1024;
const MAX_LINES = 40;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const DIRECTORIES = new Set(["cwd", "workingDirectory", "working_directory", "gitRoot", "projectRoot"]);
const SESSIONS = new Set(["sessionId", "session_id", "sessionID"]);

/** Returns the transcripts below `directory` of conversations in `root`. */
export function findTranscripts(directory: string, root: string): FoundTranscript[] {
  const found = new Map<string, FoundTranscript>();
  let seen = 0;
  for (const path of filesBelow(directory, 0)) {
    if (++seen > MAX_FILES) break;
    const transcript = recognized(directory, root, path);
    if (!transcript) continue;
    // A session may have several files: the longest has most of the conversation.
    const known = found.get(transcript.session);
    if (!known || known.size < transcript.size) found.set(transcript.session, transcript);
  }
  return [...found.values()];
}

const MAX_LISTED = 3_000;
const MAX_READ = 20;

/**
 * Returns the few newest conversations in `root` that were written after `since`. Unlike `findTranscripts`, looks at a
 * bounded number of files, so that frequent commands can afford it.
 */
export function newestTranscripts(directory: string, root: string, since: number): NewTranscript[] {
  const written: { path: string; time: number; born: number }[] = [];
  let seen = 0;
  // Agents that organize files by date have the newest last.
  for (const path of filesBelow(directory, 0, -1)) {
    if (++seen > MAX_LISTED) break;
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat && stat.mtimeMs > since) written.push({ path, time: stat.mtimeMs, born: stat.birthtimeMs });
  }
  written.sort((a, b) => b.time - a.time);
  return written.slice(0, MAX_READ).flatMap(({ path, time, born }) => {
    const found = recognized(directory, root, path);
    return found ? [{ ...found, time, born }] : [];
  });
}

function* filesBelow(directory: string, depth: number, order: 1 | -1 = 1): Generator<string> {
  let entries: Dirent[];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -order : order))) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && depth < MAX_DEPTH && entry.name !== "subagents")
      yield* filesBelow(path, depth + 1, order);
    else if (entry.isFile() && /^\.jsonl?$/.test(extname(entry.name))) yield path;
  }
}

function recognized(directory: string, root: string, path: string): FoundTranscript | undefined {
  const head = readHead(path);
  if (!head || head.records.length === 0 || head.records.some(isSubagent)) return undefined;
  if (!isAbout(head.records, root, relative(directory, path))) return undefined;
  const session = sessionOf(head.records, path);
  return session === undefined ? undefined : { path, session, size: head.size };
}

export interface TranscriptHead {
  session: string;
  /** The directory in which the agent was started, if the transcript names it. */
  directory: string | null;
  /** The transcript is a subagent's; `session` is the session that started it. */
  subagent: boolean;
}

/** Describes a transcript by its first lines; undefined if the file is not a transcript. */
export function readTranscriptHead(path: string): TranscriptHead | undefined {
  const head = readHead(path);
  if (!head || head.records.length === 0) return undefined;
  const subagent = head.records.some(isSubagent);
  const parent = subagent ? firstText(head.records, SESSIONS) : undefined;
  const session = parent !== undefined && isCommandWord(parent) ? parent : sessionOf(head.records, path);
  return session === undefined
    ? undefined
    : { session, directory: firstText(head.records, DIRECTORIES) ?? null, subagent };
}

function isAbout(records: readonly unknown[], root: string, place: string): boolean {
  const started = firstText(records, DIRECTORIES);
  if (started !== undefined) return isInside(root, started) || isInside(root, withoutLinks(started));
  const hash = firstText(records, new Set(["projectHash"]));
  if (hash !== undefined) return hash === hexDigest("sha256", root);
  const folder = root.replace(/[^A-Za-z0-9]+/g, "-");
  return dirname(place)
    .split(sep)
    .some((name) => name === folder || `-${name}` === folder);
}

/** Taken from the file name, else from the records, else from the directory name. */
function sessionOf(records: readonly unknown[], path: string): string | undefined {
  const named = UUID.exec(basename(path))?.[0];
  const found = named ?? firstText(records, SESSIONS) ?? UUID.exec(basename(dirname(path)))?.[0];
  return found !== undefined && isCommandWord(found) ? found : undefined;
}

function isSubagent(record: unknown): boolean {
  if (!isRecord(record)) return false;
  const payload = record["payload"];
  return (
    record["isSidechain"] === true ||
    record["kind"] === "subagent" ||
    (isRecord(payload) && isRecord(payload["source"]))
  );
}

function firstText(records: readonly unknown[], names: ReadonlySet<string>): string | undefined {
  for (const record of records) {
    const text = textBelow(record, names, 0);
    if (text !== undefined) return text;
  }
  return undefined;
}

function textBelow(value: unknown, names: ReadonlySet<string>, depth: number): string | undefined {
  if (!isRecord(value) || depth > 2) return undefined;
  for (const [name, each] of Object.entries(value)) {
    if (names.has(name) && typeof each === "string" && each !== "") return each;
  }
  for (const each of Object.values(value)) {
    const text = textBelow(each, names, depth + 1);
    if (text !== undefined) return text;
  }
  return undefined;
}

function readHead(path: string): { records: unknown[]; size: number } | undefined {
  return withFile(path, (fd, size) => {
    let head = readRange(fd, 0, HEAD_BYTES);
    if (!head.includes(10) && size > HEAD_BYTES) head = readRange(fd, 0, MAX_HEAD);
    return { records: recordsIn(head, size), size };
  });
}

function recordsIn(head: Buffer, size: number): unknown[] {
  const text = head.toString("utf8");
  const lines = text.split("\n");
  // Drop the truncated last line.
  if (head.length < size) lines.pop();
  return lines.slice(0, MAX_LINES).flatMap((line) => {
    try {
      return line.trim() === "" ? [] : [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
}

function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
