/**
 * Writes a checkpoint to its branch. Reads and rewrites only the trees that lead to the checkpoint, and moves the
 * branch only from the tip that we read, so that machines or processes never overwrite each other's checkpoints.
 */

import { faultPoint } from "../../base/fault-point.ts";
import { isRecord } from "../../base/json.ts";
import { version } from "../../base/version.ts";
import { ObjectStore } from "../../git/objects/object-store.ts";
import type { ObjectReader } from "../../git/objects/reader.ts";
import { FILE_MODE, TREE_MODE, type Tree, type TreeEntry, type TreeStore } from "../../git/objects/trees.ts";
import { privatePlace } from "../../git/private/store.ts";
import type { Workspace } from "../../git/workspace.ts";
import { moveBranch } from "../branch/branch.ts";
import { isHidden } from "../branch/location.ts";
import {
  AGENT_TRAILER,
  type CheckpointSummary,
  checkpointPath,
  layoutJson,
  METADATA_FILE,
  SESSION_TRAILER,
  type SessionMetadata,
  type SessionPaths,
  STRATEGY_TRAILER,
  sessionPaths,
  TASKS_DIRECTORY,
  type TokenUsage,
} from "../format/layout.ts";
import { fieldsIn, parseSessionMetadata, parseSummary } from "../format/parse.ts";
import { committingIn, treeOf, writeCommit } from "./commit.ts";

const MAX_SESSIONS = 1_000;
/** The fields that we write ourselves, and omit if unknown. */
const SUMMARY_FIELDS: ReadonlySet<string> = new Set<keyof CheckpointSummary>([
  "cli_version",
  "checkpoint_id",
  "strategy",
  "branch",
  "checkpoints_count",
  "files_touched",
  "sessions",
  "token_usage",
  "token_usage_version",
]);
/** Version 2 counts tokens from one checkpoint of a session to the next. */
const TOKEN_USAGE_VERSION = 2;
/** For a session whose files were not read. */
const EVERY_FILE = { has: () => true };

/** The files of a session for a checkpoint. */
export interface SessionFiles {
  metadata: SessionMetadata;
  /** Next to `metadata.json`: name → blob. */
  files: Map<string, string>;
  /** Below `tasks/`: path → blob. */
  tasks: Map<string, string>;
}

/** Opens the objects of the user's repository or of the private repository for checkpoints. */
export function openObjects(workspace: Workspace): ObjectStore {
  return new ObjectStore(workspace, isHidden(workspace) ? privatePlace(workspace) : undefined);
}

/** Sessions keep their index when the checkpoint is rewritten; new ones are appended. */
export async function writeCheckpoint(
  place: Workspace,
  objects: ObjectStore,
  id: string,
  sessions: readonly SessionFiles[],
): Promise<void> {
  const committing = await committingIn(place);
  await moveBranch(place, async (tip) => {
    const root = tip === null ? null : await treeOf(objects.reader, tip);
    const tree = await withSessions(objects, root, id, sessions);
    if (tree === root) return null;
    objects.writer.flush();
    const parents = tip === null ? [] : [tip];
    const commit = await writeCommit(objects, committing, { tree, parents, message: messageOf(id, sessions) });
    faultPoint("checkpoint:objects");
    return commit;
  });
}

async function withSessions(
  { reader, writer, trees }: ObjectStore,
  root: string | null,
  id: string,
  sessions: readonly SessionFiles[],
): Promise<string> {
  const path = checkpointPath(id);
  const directory = await treeAt(trees, root, path);
  const before = await blobOf(reader, directory.get(METADATA_FILE));
  const known = await loadSessions(reader, trees, directory, before);
  const paths = new Map<number, SessionPaths>();
  const changes = new Map<string, TreeEntry | null>();
  const blob = (text: string): TreeEntry => ({ mode: FILE_MODE, id: writer.add("blob", Buffer.from(text)) });
  for (const session of sessions) {
    const at = known.findIndex((other) => other.session_id === session.metadata.session_id);
    const index = at === -1 ? known.length : at;
    const old = known[index];
    // Keep a summary that was added since.
    const metadata = old?.summary ? { ...session.metadata, summary: old.summary } : session.metadata;
    if (old && old.created_at !== "") metadata.created_at = old.created_at;
    known[index] = metadata;
    paths.set(index, sessionPaths(id, index, session.files));
    for (const name of (await treeAt(trees, root, `${path}/${index}`)).keys()) {
      if (!session.files.has(name)) changes.set(`${path}/${index}/${name}`, null);
    }
    for (const [name, file] of session.files) changes.set(`${path}/${index}/${name}`, { mode: FILE_MODE, id: file });
    changes.set(`${path}/${index}/${METADATA_FILE}`, blob(layoutJson(metadata)));
    for (const [name, file] of session.tasks)
      changes.set(`${path}/${TASKS_DIRECTORY}/${name}`, { mode: FILE_MODE, id: file });
  }
  changes.set(`${path}/${METADATA_FILE}`, blob(layoutJson(withOthers(before, summaryOf(id, known), paths))));
  return trees.apply(root, changes);
}

/** Returns sessions in order; an unreadable one keeps its index. The branch is untrusted input. */
async function loadSessions(
  reader: ObjectReader,
  trees: TreeStore,
  directory: Tree,
  summary: Buffer | undefined,
): Promise<SessionMetadata[]> {
  const parsed = summary ? parseSummary(summary) : undefined;
  const named = Math.min(parsed?.ok ? parsed.value.sessions.length : 0, MAX_SESSIONS);
  const sessions: SessionMetadata[] = [];
  for (let n = 0; n < named || directory.has(String(n)); n++) {
    const entry = directory.get(String(n));
    const file = entry?.mode === TREE_MODE ? (await trees.read(entry.id)).get(METADATA_FILE) : undefined;
    const data = await blobOf(reader, file);
    const metadata = data ? parseSessionMetadata(data) : undefined;
    sessions.push(metadata?.ok ? metadata.value : unknownSession());
  }
  return sessions;
}

export async function blobOf(reader: ObjectReader, entry: TreeEntry | undefined): Promise<Buffer | undefined> {
  const object = entry ? await reader.read(entry.id) : undefined;
  return object?.type === "blob" ? object.data : undefined;
}

export function unknownSession(): SessionMetadata {
  return {
    cli_version: "",
    checkpoint_id: "",
    session_id: "",
    strategy: "",
    created_at: "",
    checkpoints_count: 0,
    files_touched: [],
    agent: "",
  };
}

export function summaryOf(id: string, sessions: readonly SessionMetadata[]): CheckpointSummary {
  const newest = sessions.at(-1) ?? unknownSession();
  const usage = sessions.flatMap(({ token_usage }) => (token_usage ? [token_usage] : []));
  return {
    cli_version: version,
    checkpoint_id: id,
    strategy: newest.strategy,
    ...(newest.branch === undefined ? {} : { branch: newest.branch }),
    checkpoints_count: sessions.reduce((sum, session) => sum + session.checkpoints_count, 0),
    files_touched: [...new Set(sessions.flatMap((session) => session.files_touched))].sort(),
    sessions: sessions.map((_, index) => sessionPaths(id, index, EVERY_FILE)),
    ...(usage.length > 0 ? { token_usage: usage.reduce(addUsage) } : {}),
    token_usage_version: TOKEN_USAGE_VERSION,
  };
}

/**
 * Keeps the paths of another tool's sessions (a compact transcript, assets), and the checkpoint's fields that only
 * other tools know.
 */
export function withOthers(
  before: Buffer | undefined,
  summary: CheckpointSummary,
  ours: ReadonlyMap<number, SessionPaths>,
): CheckpointSummary {
  const others = before ? fieldsIn(before) : {};
  const given = Array.isArray(others["sessions"]) ? (others["sessions"] as unknown[]) : [];
  const sessions = summary.sessions.map((paths, index) => {
    const theirs = given[index];
    return ours.get(index) ?? (isRecord(theirs) ? (theirs as unknown as SessionPaths) : paths);
  });
  // The version applies to every session: if another tool counted by older rules, the checkpoint keeps its version.
  const version = before && ours.size < sessions.length ? countOf(others["token_usage_version"]) : TOKEN_USAGE_VERSION;
  const { token_usage_version: _, ...rest } = summary;
  return {
    ...rest,
    ...(version > 0 ? { token_usage_version: Math.min(version, TOKEN_USAGE_VERSION) } : {}),
    sessions,
    ...othersFields(before),
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** Returns the fields of a checkpoint's metadata.json that only other tools know. */
export function othersFields(metadata: Buffer | undefined): Record<string, unknown> {
  const fields = metadata ? Object.entries(fieldsIn(metadata)) : [];
  return Object.fromEntries(fields.filter(([name]) => !SUMMARY_FIELDS.has(name)));
}

function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  const below =
    a.subagent_tokens && b.subagent_tokens
      ? addUsage(a.subagent_tokens, b.subagent_tokens)
      : (a.subagent_tokens ?? b.subagent_tokens);
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cache_creation_tokens: a.cache_creation_tokens + b.cache_creation_tokens,
    cache_read_tokens: a.cache_read_tokens + b.cache_read_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    api_call_count: a.api_call_count + b.api_call_count,
    ...(below ? { subagent_tokens: below } : {}),
  };
}

function messageOf(id: string, sessions: readonly SessionFiles[]): string {
  const lines = [`Checkpoint: ${id}`, ""];
  for (const { metadata } of sessions) lines.push(`${SESSION_TRAILER}: ${oneWord(metadata.session_id)}`);
  const first = sessions[0]?.metadata;
  if (first) lines.push(`${STRATEGY_TRAILER}: ${first.strategy}`, `${AGENT_TRAILER}: ${oneWord(first.agent)}`);
  return `${lines.join("\n")}\n`;
}

/** Ids and names come from agents: a line break in one must not create another trailer. */
function oneWord(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").slice(0, 200);
}

export async function treeAt(trees: TreeStore, root: string | null, path: string): Promise<Tree> {
  let tree = await trees.read(root);
  for (const part of path.split("/")) {
    const entry = tree.get(part);
    if (entry?.mode !== TREE_MODE) return new Map();
    tree = await trees.read(entry.id);
  }
  return tree;
}
