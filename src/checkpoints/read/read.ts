/**
 * Reads checkpoints, from the branch and from the newer layout with one ref each. Checkpoints are untrusted input: the
 * reader skips files that are too large or not plain, follows no path that a file names, and reports defects along
 * with what it could read.
 */

import { gitIn } from "../../git/git.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import { readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { chunkNames, joinLines } from "../../transcripts/chunks.ts";
import { checkpointPlaces } from "../branch/location.ts";
import { ASSETS_DIRECTORY, assetsNamedIn, withAssets } from "../format/assets.ts";
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
  isRemovedTranscript,
  LINKS_FILE,
  METADATA_FILE,
  PROMPT_FILE,
  REMOVED_TRANSCRIPT,
  type SessionMetadata,
  TASK_FILE,
  TASK_RECORD_FILE,
  TASKS_DIRECTORY,
  type TaskCheckpoint,
  TRANSCRIPT_FILE,
} from "../format/layout.ts";
import { type Parsed, parseBacktrailRecord, parseSessionMetadata, parseSummary, parseTask } from "../format/parse.ts";
import { parseLinks, type SharedLinks } from "../links/squashed-links.ts";
import { type CheckpointDefect, CheckpointError } from "../problems.ts";

const MIB = 1024 * 1024;
const MAX_METADATA = 8 * MIB;
const MAX_TEXT = 16 * MIB;
const MAX_RECORD = 64 * MIB;
/** For all chunks together. */
const MAX_TRANSCRIPT = 512 * MIB;
const MAX_SESSIONS = 500;
const MAX_TASKS = 1_000;
const MAX_FILES = 50_000;

export interface StoredCheckpoint {
  id: string;
  layout: "branch" | "ref";
  summary: CheckpointSummary;
  sessions: StoredSession[];
  tasks: TaskCheckpoint[];
  /** Other checkpoints of commits that name this one. */
  links: SharedLinks;
  defects: CheckpointDefect[];
}

export interface StoredSession {
  index: number;
  metadata: SessionMetadata;
  prompts: string[];
  record: BacktrailRecord | null;
  hasTranscript: boolean;
  /** Present if `forget` has removed the conversation. */
  isRemoved?: true;
}

export interface StoredTranscript {
  bytes: Uint8Array;
  /** The blobs of the transcript, in order. */
  chunks: { id: string; bytes: Uint8Array }[];
  /** Images that `bytes` contains inline and `chunks` only reference. */
  images: ReadonlyMap<string, Uint8Array>;
  defects: CheckpointDefect[];
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

  /** Returns undefined if there is no such checkpoint; throws if it cannot be read at all. */
  find(id: string): Promise<StoredCheckpoint | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const found = this.#read(id);
    this.#known.set(id, found);
    return found;
  }

  /** Finds a commit's checkpoints: those that its message names, and those linked from them. Skips unknown ids. */
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
    if (size > MAX_TRANSCRIPT) {
      const defect = { kind: "transcript-too-large", session, mebibytes: Math.round(size / MIB) } as const;
      return { bytes: new Uint8Array(), chunks: [], images: new Map(), defects: [defect] };
    }
    const defects: CheckpointDefect[] = [];
    const parts: StoredTranscript["chunks"] = [];
    for (const name of chunks) {
      const data = await this.#data(place.files, name, MAX_TRANSCRIPT, defects);
      if (data) parts.push({ id: place.files.get(name)?.id ?? "", bytes: data });
    }
    // Chunks are cut at line ends; a chunk that lost its line end gets it back.
    const bytes = parts.length === 1 && parts[0] ? parts[0].bytes : joinLines(parts.map((part) => part.bytes));
    const stated = await this.#text(place.files, `${session}/${CONTENT_HASH_FILE}`, defects);
    if (base === TRANSCRIPT_FILE && stated && stated.trim() !== contentHash(bytes))
      defects.push({ kind: "transcript-changed", session });
    const images = await this.#images(place.files, session, bytes, defects);
    return { bytes: withAssets(bytes, images), chunks: parts, images, defects };
  }

  async #images(
    files: Files,
    session: number,
    bytes: Uint8Array,
    defects: CheckpointDefect[],
  ): Promise<Map<string, Buffer>> {
    const images = new Map<string, Buffer>();
    let size = bytes.length;
    for (const name of assetsNamedIn(bytes)) {
      const path = `${session}/${ASSETS_DIRECTORY}/${name}`;
      size += files.get(path)?.size ?? 0;
      if (size > MAX_TRANSCRIPT) {
        defects.push({ kind: "images-too-large", session });
        break;
      }
      const image = await this.#data(files, path, MAX_TRANSCRIPT, defects);
      if (image) images.set(name, image);
    }
    return images;
  }

  async #read(id: string): Promise<StoredCheckpoint | undefined> {
    const place = await this.#place(id);
    if (!place) return undefined;
    const defects: CheckpointDefect[] = [];
    const summary = await this.#parsed(place.files, METADATA_FILE, MAX_METADATA, parseSummary, defects);
    if (!summary) throw unreadable(id, defects);
    if (summary.checkpoint_id.toLowerCase() !== id.toLowerCase()) defects.push({ kind: "names-another" });
    const sessions: StoredSession[] = [];
    const indexes = sessionIndexes(place.files);
    if (indexes.length > MAX_SESSIONS)
      defects.push({ kind: "too-many-sessions", read: MAX_SESSIONS, sessions: indexes.length });
    for (const index of indexes.slice(0, MAX_SESSIONS)) {
      const session = await this.#session(place.files, index, defects);
      if (session) sessions.push(session);
    }
    if (summary.sessions.length !== indexes.length)
      defects.push({ kind: "sessions-miscounted", named: summary.sessions.length, sessions: indexes.length });
    const tasks = await this.#tasks(place.files, defects);
    const links = place.files.has(LINKS_FILE)
      ? await this.#data(place.files, LINKS_FILE, MAX_METADATA, defects)
      : undefined;
    return {
      id,
      layout: place.layout,
      summary,
      sessions,
      tasks,
      links: links ? parseLinks(links) : {},
      defects,
    };
  }

  async #session(files: Files, index: number, defects: CheckpointDefect[]): Promise<StoredSession | undefined> {
    const name = (file: string) => `${index}/${file}`;
    const metadata = await this.#parsed(files, name(METADATA_FILE), MAX_METADATA, parseSessionMetadata, defects);
    if (!metadata) return undefined;
    const record = files.has(name(BACKTRAIL_FILE))
      ? await this.#parsed(files, name(BACKTRAIL_FILE), MAX_RECORD, parseBacktrailRecord, defects)
      : undefined;
    return {
      index,
      metadata,
      prompts: promptsIn((await this.#text(files, name(PROMPT_FILE), defects)) ?? ""),
      record: record ?? null,
      hasTranscript: files.has(name(TRANSCRIPT_FILE)) || files.has(name(COMPACT_TRANSCRIPT_FILE)),
      ...((await this.#isRemoved(files, name(TRANSCRIPT_FILE), defects)) ? { isRemoved: true } : {}),
    };
  }

  async #isRemoved(files: Files, path: string, defects: CheckpointDefect[]): Promise<boolean> {
    if (files.get(path)?.size !== REMOVED_TRANSCRIPT.length) return false;
    const data = await this.#data(files, path, MAX_TEXT, defects);
    return data !== undefined && isRemovedTranscript(data);
  }

  async #tasks(files: Files, defects: CheckpointDefect[]): Promise<TaskCheckpoint[]> {
    const tasks: TaskCheckpoint[] = [];
    for (const path of files.keys()) {
      const [directory, name, file, ...rest] = path.split("/");
      if (directory !== TASKS_DIRECTORY || rest.length > 0) continue;
      const newer = file === TASK_RECORD_FILE && !files.has(`${TASKS_DIRECTORY}/${name}/${TASK_FILE}`);
      if (file !== TASK_FILE && !newer) continue;
      if (tasks.length >= MAX_TASKS) {
        defects.push({ kind: "too-many-tasks", read: MAX_TASKS });
        break;
      }
      const task = await this.#parsed(files, path, MAX_METADATA, parseTask, defects);
      if (task) tasks.push(task);
    }
    return tasks;
  }

  async #place(id: string): Promise<{ layout: "branch" | "ref"; files: Files } | undefined> {
    if (!isCheckpointName(id)) return undefined;
    // A checkpoint that moved to the newer layout keeps its id; the copy on the branch is older.
    const places = checkpointPlaces(this.#workspace);
    for (const place of places) {
      const ref = await refOf(place, id);
      if (ref) return { layout: "ref", files: await filesIn(place, ref, "") };
    }
    if (!isCheckpointId(id)) return undefined;
    for (const { place, branch } of (await Promise.all(places.map(branches))).flat()) {
      const files = await filesIn(place, branch, checkpointPath(id));
      if (files.size > 0) return { layout: "branch", files };
    }
    return undefined;
  }

  async #parsed<T>(
    files: Files,
    path: string,
    limit: number,
    parse: (data: Uint8Array) => Parsed<T>,
    defects: CheckpointDefect[],
  ): Promise<T | undefined> {
    const data = await this.#data(files, path, limit, defects);
    if (!data) {
      if (!files.has(path)) defects.push({ kind: "file-missing", path });
      return undefined;
    }
    const result = parse(data);
    if (result.ok) return result.value;
    defects.push({ kind: "file-invalid", path, reason: result.reason });
    return undefined;
  }

  async #text(files: Files, path: string, defects: CheckpointDefect[]): Promise<string | undefined> {
    return (await this.#data(files, path, MAX_TEXT, defects))?.toString("utf8");
  }

  async #data(files: Files, path: string, limit: number, defects: CheckpointDefect[]): Promise<Buffer | undefined> {
    const file = files.get(path);
    if (!file) return undefined;
    if (!file.isPlain) {
      defects.push({ kind: "file-not-plain", path });
      return undefined;
    }
    if (file.size > limit) {
      defects.push({ kind: "file-too-large", path, mebibytes: Math.ceil(file.size / MIB) });
      return undefined;
    }
    return this.#objects.require(file.id, "blob");
  }
}

/** Splits prompt.txt into prompts, at lines of three hyphens. */
export function promptsIn(text: string): string[] {
  return text
    .split(/^---[ \t]*\r?$/m)
    .map((prompt) => prompt.trim())
    .filter((prompt) => prompt !== "");
}

/** Returns the distinct checkpoints of either layout that a commit message names, in order. Skips invalid ids. */
export function checkpointsNamedIn(message: string): string[] {
  const found = [...message.matchAll(/^[ \t]*Entire-Checkpoint:[ \t]*(\S+)[ \t]*\r?$/gm)].map(
    (match) => match[1] ?? "",
  );
  return [...new Set(found.filter(isCheckpointName))];
}

/** Returns the local branch, then the remote-tracking branches. */
async function branches(place: Workspace): Promise<{ place: Workspace; branch: string }[]> {
  const found: string[] = [];
  if (await readRef(place, CHECKPOINT_BRANCH)) found.push(CHECKPOINT_BRANCH);
  const short = CHECKPOINT_BRANCH.slice("refs/heads/".length);
  const remotes = await gitIn(place).try(["for-each-ref", "--format=%(refname)", `refs/remotes/*/${short}`]);
  const fetched = remotes.stdout
    .toString("utf8")
    .split("\n")
    .filter((ref) => ref !== "");
  return [...found, ...fetched].map((branch) => ({ place, branch }));
}

async function refOf(workspace: Workspace, id: string): Promise<string | undefined> {
  for (const name of isCheckpointId(id) ? [id] : new Set([id, id.toUpperCase(), id.toLowerCase()])) {
    const ref = `${CHECKPOINT_REFS}/${name.slice(-2)}/${name}`;
    if (await readRef(workspace, ref)) return ref;
  }
  return undefined;
}

/** Lists the files below a directory of a commit, with their sizes, without reading them. */
async function filesIn(workspace: Workspace, commit: string, directory: string): Promise<Files> {
  const within = directory === "" ? [] : ["--", `${directory}/`];
  const listed = await gitIn(workspace).run(["ls-tree", "-r", "-l", "-z", "--full-tree", commit, ...within]);
  const files = new Map<string, StoredFile>();
  for (const line of listed.toString("utf8").split("\0")) {
    const match = /^(\d+) (\w+) ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line);
    if (!match) continue;
    const [, mode = "", type = "", id = "", size = "", path = ""] = match;
    const name = directory === "" ? path : path.slice(directory.length + 1);
    files.set(name, { id, size: Number(size) || 0, isPlain: type === "blob" && mode !== "120000" });
    if (files.size >= MAX_FILES) break;
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

function unreadable(id: string, defects: readonly CheckpointDefect[]): CheckpointError {
  return new CheckpointError("refused", { kind: "checkpoint-unreadable", checkpoint: id, defects });
}
