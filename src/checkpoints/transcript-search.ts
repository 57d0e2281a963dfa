/**
 * The conversations about a work tree among an agent's own transcripts. Whose a file is, is told by its first lines
 * (the directory the agent was started in) or by the folder it lies in; nothing is read beyond that.
 */
import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, readSync, realpathSync } from "node:fs";
import { basename, dirname, extname, join, relative, sep } from "node:path";
import { isRecord } from "../agents/profile.ts";
import { hexDigest } from "../base/digest.ts";
import { isInside } from "../base/paths.ts";

export interface FoundTranscript {
  path: string;
  session: string;
  size: number;
}

const DEEPEST = 5;
const MOST_FILES = 50_000;
const HEAD_BYTES = 64 * 1024;
/** A first line may hold all of the model's instructions. */
const LONGEST_HEAD = 1024 * 1024;
const MOST_LINES = 40;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const DIRECTORIES = new Set(["cwd", "workingDirectory", "working_directory", "gitRoot", "projectRoot"]);
const SESSIONS = new Set(["sessionId", "session_id", "sessionID"]);

/** Below `directory`, those of conversations in `root`. */
export function findTranscripts(directory: string, root: string): FoundTranscript[] {
  const found = new Map<string, FoundTranscript>();
  let seen = 0;
  for (const path of filesBelow(directory, 0)) {
    if (++seen > MOST_FILES) break;
    const transcript = recognised(directory, root, path);
    if (!transcript) continue;
    // A session may have left several files behind: the longest has most of it.
    const known = found.get(transcript.session);
    if (!known || known.size < transcript.size) found.set(transcript.session, transcript);
  }
  return [...found.values()];
}

function* filesBelow(directory: string, depth: number): Generator<string> {
  let entries: Dirent[];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && depth < DEEPEST && entry.name !== "subagents") yield* filesBelow(path, depth + 1);
    else if (entry.isFile() && /^\.jsonl?$/.test(extname(entry.name))) yield path;
  }
}

function recognised(directory: string, root: string, path: string): FoundTranscript | undefined {
  const head = readHead(path);
  if (!head || head.records.length === 0 || head.records.some(isSubagent)) return undefined;
  if (!isAbout(head.records, root, relative(directory, path))) return undefined;
  const session = sessionOf(head.records, path);
  return session === undefined ? undefined : { path, session, size: head.size };
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

/** As the file is named; else as it says itself. */
function sessionOf(records: readonly unknown[], path: string): string | undefined {
  const named = UUID.exec(basename(path))?.[0];
  return named ?? firstText(records, SESSIONS) ?? UUID.exec(basename(dirname(path)))?.[0];
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
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    let head = readUpTo(fd, HEAD_BYTES);
    if (!head.includes(10) && stat.size > HEAD_BYTES) head = readUpTo(fd, LONGEST_HEAD);
    return { records: recordsIn(head, stat.size), size: stat.size };
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function readUpTo(fd: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, 0));
}

function recordsIn(head: Buffer, size: number): unknown[] {
  const text = head.toString("utf8");
  const lines = text.split("\n");
  // What was cut off is no line.
  if (head.length < size) lines.pop();
  return lines.slice(0, MOST_LINES).flatMap((line) => {
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
