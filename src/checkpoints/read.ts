/**
 * Reads checkpoints, from the branch and from the newer layout with one ref each. They may have been fetched from
 * anybody: nothing is read that is too large or not a plain file, no path that a file names is followed, and what is
 * wrong with a checkpoint is told beside what could be read.
 */
import { UserError } from "../base/errors.ts";
import { plural } from "../base/text.ts";
import { gitLocation } from "../git/location.ts";
import { ObjectReader } from "../git/reader.ts";
import { readRef } from "../git/refs.ts";
import { git, tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { chunkNames, joinLines } from "../transcripts/chunks.ts";
import {
  BACKTRAIL_FILE,
  type BacktrailRecord,
  CHECKPOINT_BRANCH,
  CHECKPOINT_REFS,
  type CheckpointSummary,
  COMPACT_TRANSCRIPT_FILE,
  CONTENT_HASH_FILE,
  checkpointPath,
  contentHash,
  isCheckpointId,
  isCheckpointName,
  LINKS_FILE,
  METADATA_FILE,
  PROMPT_FILE,
  type SessionMetadata,
  TASK_FILE,
  TASK_RECORD_FILE,
  TASKS_DIRECTORY,
  type TaskCheckpoint,
  TRANSCRIPT_FILE,
} from "./layout.ts";
import { parseLinks, type SharedLinks } from "./melted-links.ts";
import { type Parsed, parseBacktrailRecord, parseSessionMetadata, parseSummary, parseTask } from "./parse.ts";

const MIB = 1024 * 1024;
const LARGEST_METADATA = 8 * MIB;
const LARGEST_TEXT = 16 * MIB;
const LARGEST_RECORD = 64 * MIB;
/** Of all chunks together. */
const LARGEST_TRANSCRIPT = 512 * MIB;
const MOST_SESSIONS = 500;
const MOST_TASKS = 1_000;
const MOST_FILES = 50_000;

export interface StoredCheckpoint {
  id: string;
  layout: "branch" | "ref";
  summary: CheckpointSummary;
  sessions: StoredSession[];
  tasks: TaskCheckpoint[];
  /** Other checkpoints of commits that name this one. */
  links: SharedLinks;
  /** What is wrong with it, in words. */
  problems: string[];
}

export interface StoredSession {
  index: number;
  metadata: SessionMetadata;
  prompts: string[];
  record: BacktrailRecord | null;
  hasTranscript: boolean;
}

export interface StoredTranscript {
  bytes: Uint8Array;
  /** The blobs that it is made of, in order. */
  chunks: { id: string; bytes: Uint8Array }[];
  problems: string[];
}

interface StoredFile {
  id: string;
  size: number;
  isPlain: boolean;
}

type Files = ReadonlyMap<string, StoredFile>;

export class CheckpointReader {
  readonly #workspace: Workspace;
  readonly #objects: ObjectReader;
  readonly #known = new Map<string, Promise<StoredCheckpoint | undefined>>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    this.#objects = new ObjectReader(workspace);
  }

  close(): void {
    this.#objects.close();
  }

  /** Undefined where there is none of that id; an error where there is one that cannot be read at all. */
  find(id: string): Promise<StoredCheckpoint | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const found = this.#read(id);
    this.#known.set(id, found);
    return found;
  }

  /** The checkpoints of a commit that names some of them; the others are known from beside those. Unknown ids are passed over. */
  async findAll(
    commit: string,
    named: readonly string[],
    unreadable: (error: unknown) => void,
  ): Promise<StoredCheckpoint[]> {
    const found = new Map<string, StoredCheckpoint>();
    const look = async (ids: readonly string[]): Promise<void> => {
      for (const id of ids) {
        if (found.has(id)) continue;
        try {
          const checkpoint = await this.find(id);
          if (checkpoint) found.set(id, checkpoint);
        } catch (error) {
          unreadable(error);
        }
      }
    };
    await look(named);
    await look([...found.values()].flatMap(({ links }) => links[commit] ?? []));
    return [...found.values()];
  }

  async transcript(id: string, session: number): Promise<StoredTranscript | undefined> {
    const place = await this.#place(id);
    if (!place) return undefined;
    const base = place.files.has(`${session}/${TRANSCRIPT_FILE}`) ? TRANSCRIPT_FILE : COMPACT_TRANSCRIPT_FILE;
    const chunks = chunkNames(`${session}/${base}`, place.files.keys());
    if (chunks.length === 0) return undefined;
    const size = chunks.reduce((sum, name) => sum + (place.files.get(name)?.size ?? 0), 0);
    if (size > LARGEST_TRANSCRIPT) {
      const problem = `The transcript of session ${session} has ${plural(Math.round(size / MIB), "MiB", "MiB")}, which is too large to show.`;
      return { bytes: new Uint8Array(), chunks: [], problems: [problem] };
    }
    const problems: string[] = [];
    const parts: StoredTranscript["chunks"] = [];
    for (const name of chunks) {
      const data = await this.#data(place.files, name, LARGEST_TRANSCRIPT, problems);
      if (data) parts.push({ id: place.files.get(name)?.id ?? "", bytes: data });
    }
    // Chunks are cut at line ends; only one that lost its own gets it back.
    const bytes = parts.length === 1 && parts[0] ? parts[0].bytes : joinLines(parts.map((part) => part.bytes));
    const stated = await this.#text(place.files, `${session}/${CONTENT_HASH_FILE}`, problems);
    if (base === TRANSCRIPT_FILE && stated && stated.trim() !== contentHash(bytes))
      problems.push(`The transcript of session ${session} is not what its ${CONTENT_HASH_FILE} says.`);
    return { bytes, chunks: parts, problems };
  }

  async #read(id: string): Promise<StoredCheckpoint | undefined> {
    const place = await this.#place(id);
    if (!place) return undefined;
    const problems: string[] = [];
    const summary = await this.#parsed(place.files, METADATA_FILE, LARGEST_METADATA, parseSummary, problems);
    if (!summary) throw unreadable(id, problems);
    if (summary.checkpoint_id.toLowerCase() !== id.toLowerCase())
      problems.push("Its metadata.json names another checkpoint.");
    const sessions: StoredSession[] = [];
    const indexes = sessionIndexes(place.files);
    if (indexes.length > MOST_SESSIONS)
      problems.push(`Only the first ${MOST_SESSIONS} of its ${indexes.length} sessions are read.`);
    for (const index of indexes.slice(0, MOST_SESSIONS)) {
      const session = await this.#session(place.files, index, problems);
      if (session) sessions.push(session);
    }
    if (summary.sessions.length !== indexes.length)
      problems.push(
        `Its metadata.json names ${plural(summary.sessions.length, "session")}; ${indexes.length} are there.`,
      );
    const tasks = await this.#tasks(place.files, problems);
    const links = place.files.has(LINKS_FILE)
      ? await this.#data(place.files, LINKS_FILE, LARGEST_METADATA, problems)
      : undefined;
    return {
      id,
      layout: place.layout,
      summary,
      sessions,
      tasks,
      links: links ? parseLinks(links) : {},
      problems,
    };
  }

  async #session(files: Files, index: number, problems: string[]): Promise<StoredSession | undefined> {
    const name = (file: string) => `${index}/${file}`;
    const metadata = await this.#parsed(files, name(METADATA_FILE), LARGEST_METADATA, parseSessionMetadata, problems);
    if (!metadata) return undefined;
    const record = files.has(name(BACKTRAIL_FILE))
      ? await this.#parsed(files, name(BACKTRAIL_FILE), LARGEST_RECORD, parseBacktrailRecord, problems)
      : undefined;
    return {
      index,
      metadata,
      prompts: promptsIn((await this.#text(files, name(PROMPT_FILE), problems)) ?? ""),
      record: record ?? null,
      hasTranscript: files.has(name(TRANSCRIPT_FILE)) || files.has(name(COMPACT_TRANSCRIPT_FILE)),
    };
  }

  async #tasks(files: Files, problems: string[]): Promise<TaskCheckpoint[]> {
    const tasks: TaskCheckpoint[] = [];
    for (const path of files.keys()) {
      const [directory, name, file, ...rest] = path.split("/");
      if (directory !== TASKS_DIRECTORY || rest.length > 0) continue;
      const newer = file === TASK_RECORD_FILE && !files.has(`${TASKS_DIRECTORY}/${name}/${TASK_FILE}`);
      if (file !== TASK_FILE && !newer) continue;
      if (tasks.length >= MOST_TASKS) {
        problems.push(`Only the first ${MOST_TASKS} of its tasks are read.`);
        break;
      }
      const task = await this.#parsed(files, path, LARGEST_METADATA, parseTask, problems);
      if (task) tasks.push(task);
    }
    return tasks;
  }

  async #place(id: string): Promise<{ layout: "branch" | "ref"; files: Files } | undefined> {
    if (!isCheckpointName(id)) return undefined;
    // One that was moved to the newer layout keeps its id, and is older where it still stands on the branch.
    const ref = await refOf(this.#workspace, id);
    if (ref) return { layout: "ref", files: await filesIn(this.#workspace, ref, "") };
    if (!isCheckpointId(id)) return undefined;
    for (const branch of await branches(this.#workspace)) {
      const files = await filesIn(this.#workspace, branch, checkpointPath(id));
      if (files.size > 0) return { layout: "branch", files };
    }
    return undefined;
  }

  async #parsed<T>(
    files: Files,
    path: string,
    limit: number,
    parse: (data: Uint8Array) => Parsed<T>,
    problems: string[],
  ): Promise<T | undefined> {
    const data = await this.#data(files, path, limit, problems);
    if (!data) {
      if (!files.has(path)) problems.push(`${path} is missing.`);
      return undefined;
    }
    const result = parse(data);
    if (result.ok) return result.value;
    problems.push(`${path} is refused: ${result.reason}.`);
    return undefined;
  }

  async #text(files: Files, path: string, problems: string[]): Promise<string | undefined> {
    return (await this.#data(files, path, LARGEST_TEXT, problems))?.toString("utf8");
  }

  async #data(files: Files, path: string, limit: number, problems: string[]): Promise<Buffer | undefined> {
    const file = files.get(path);
    if (!file) return undefined;
    if (!file.isPlain) {
      problems.push(`${path} is refused: it is not a plain file.`);
      return undefined;
    }
    if (file.size > limit) {
      problems.push(`${path} is refused: ${Math.ceil(file.size / MIB)} MiB are too large for it.`);
      return undefined;
    }
    return this.#objects.require(file.id, "blob");
  }
}

/** Prompts as prompt.txt separates them: by a line of three hyphens. */
export function promptsIn(text: string): string[] {
  return text
    .split(/^---[ \t]*\r?$/m)
    .map((prompt) => prompt.trim())
    .filter((prompt) => prompt !== "");
}

/** The checkpoints of either layout that a commit's message names, in order, each once; whatever is no id is passed over. */
export function checkpointsNamedIn(message: string): string[] {
  const found = [...message.matchAll(/^[ \t]*Entire-Checkpoint:[ \t]*(\S+)[ \t]*\r?$/gm)].map(
    (match) => match[1] ?? "",
  );
  return [...new Set(found.filter(isCheckpointName))];
}

/** The local branch, then what was fetched of it. */
async function branches(workspace: Workspace): Promise<string[]> {
  const found: string[] = [];
  if (await readRef(workspace, CHECKPOINT_BRANCH)) found.push(CHECKPOINT_BRANCH);
  const { args, cwd } = gitLocation(workspace);
  const short = CHECKPOINT_BRANCH.slice("refs/heads/".length);
  const remotes = await tryGit([...args, "for-each-ref", "--format=%(refname)", `refs/remotes/*/${short}`], { cwd });
  return [
    ...found,
    ...remotes.stdout
      .toString("utf8")
      .split("\n")
      .filter((ref) => ref !== ""),
  ];
}

async function refOf(workspace: Workspace, id: string): Promise<string | undefined> {
  for (const name of isCheckpointId(id) ? [id] : new Set([id, id.toUpperCase(), id.toLowerCase()])) {
    const ref = `${CHECKPOINT_REFS}/${name.slice(-2)}/${name}`;
    if (await readRef(workspace, ref)) return ref;
  }
  return undefined;
}

/** The files below a directory of a commit, with their sizes, without reading any of them. */
async function filesIn(workspace: Workspace, commit: string, directory: string): Promise<Files> {
  const { args, cwd } = gitLocation(workspace);
  const within = directory === "" ? [] : ["--", `${directory}/`];
  const listed = await git([...args, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, ...within], { cwd });
  const files = new Map<string, StoredFile>();
  for (const line of listed.toString("utf8").split("\0")) {
    const match = /^(\d+) (\w+) ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line);
    if (!match) continue;
    const [, mode = "", type = "", id = "", size = "", path = ""] = match;
    const name = directory === "" ? path : path.slice(directory.length + 1);
    files.set(name, { id, size: Number(size) || 0, isPlain: type === "blob" && mode !== "120000" });
    if (files.size >= MOST_FILES) break;
  }
  return files;
}

function sessionIndexes(files: Files): number[] {
  const indexes = new Set<number>();
  for (const path of files.keys()) {
    const index = /^(0|[1-9]\d{0,5})\/metadata\.json$/.exec(path)?.[1];
    if (index !== undefined) indexes.add(Number(index));
  }
  return [...indexes].sort((a, b) => a - b);
}

function unreadable(id: string, problems: readonly string[]): UserError {
  return new UserError(
    "refused",
    `Checkpoint ${id} cannot be read: ${problems.join(" ") || "it has no metadata.json."}`,
    "It was written by something else, or damaged on its way here.",
  );
}
