/**
 * Writes a checkpoint into its branch: only the trees on the way to it are read and made anew, and the branch moves only if it
 * still stands where we looked, so that two machines' or processes' checkpoints never overwrite each other.
 */
import { faultPoint } from "../base/fault.ts";
import { version } from "../base/version.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { FILE_MODE, TREE_MODE, type Tree, type TreeEntry, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { moveBranch } from "./branch.ts";
import { committingIn, treeOf, writeCommit } from "./commit.ts";
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
} from "./layout.ts";
import { fieldsIn, parseSessionMetadata, parseSummary } from "./parse.ts";

const MOST_SESSIONS = 1_000;
/** What we say of a checkpoint ourselves, and leave out where it isn't known. */
const SUMMARY_FIELDS: ReadonlySet<string> = new Set<keyof CheckpointSummary>([
  "cli_version",
  "checkpoint_id",
  "strategy",
  "branch",
  "checkpoints_count",
  "files_touched",
  "sessions",
  "token_usage",
]);
/** Of a session whose files were not looked at. */
const EVERY_FILE = { has: () => true };

/** A session as it goes into a checkpoint. */
export interface SessionFiles {
  metadata: SessionMetadata;
  /** Beside `metadata.json`: name → blob. */
  files: Map<string, string>;
  /** Below `tasks/`: path → blob. */
  tasks: Map<string, string>;
}

export interface ObjectStore {
  reader: ObjectReader;
  writer: ObjectWriter;
  trees: TreeStore;
}

export function openObjects(workspace: Workspace): ObjectStore {
  const reader = new ObjectReader(workspace);
  const writer = new ObjectWriter(workspace);
  return { reader, writer, trees: new TreeStore(reader, writer) };
}

/** Sessions keep their places when the checkpoint is written again; new ones are appended. */
export async function writeCheckpoint(
  workspace: Workspace,
  objects: ObjectStore,
  id: string,
  sessions: readonly SessionFiles[],
): Promise<void> {
  const committing = await committingIn(workspace);
  await moveBranch(workspace, async (tip) => {
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
  const known = await knownSessions(reader, trees, directory, before);
  const paths = new Map<number, SessionPaths>();
  const changes = new Map<string, TreeEntry | null>();
  const blob = (text: string): TreeEntry => ({ mode: FILE_MODE, id: writer.add("blob", Buffer.from(text)) });
  for (const session of sessions) {
    const at = known.findIndex((other) => other.session_id === session.metadata.session_id);
    const index = at === -1 ? known.length : at;
    const old = known[index];
    // What somebody added to it since (a summary) is not ours to drop.
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

/** In their order; a session that cannot be understood keeps its place. The branch may be anybody's: nothing is taken for granted. */
async function knownSessions(
  reader: ObjectReader,
  trees: TreeStore,
  directory: Tree,
  summary: Buffer | undefined,
): Promise<SessionMetadata[]> {
  const parsed = summary ? parseSummary(summary) : undefined;
  const named = Math.min(parsed?.ok ? parsed.value.sessions.length : 0, MOST_SESSIONS);
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
  };
}

/**
 * Another tool's sessions keep the paths that it gave them (a compact transcript, assets), and the checkpoint the fields
 * that only other tools know.
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
    const known = typeof theirs === "object" && theirs !== null && !Array.isArray(theirs);
    return ours.get(index) ?? (known ? (theirs as SessionPaths) : paths);
  });
  return { ...summary, sessions, ...othersFields(before) };
}

/** Of a checkpoint's metadata.json, what only other tools know. */
export function othersFields(metadata: Buffer | undefined): Record<string, unknown> {
  const fields = metadata ? Object.entries(fieldsIn(metadata)) : [];
  return Object.fromEntries(fields.filter(([name]) => !SUMMARY_FIELDS.has(name)));
}

export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
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

/** Ids and names come from agents: a line break in one must not become a trailer of its own. */
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
