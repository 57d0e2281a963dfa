/**
 * Writes a checkpoint into its branch: only the trees on the way to it are read and made anew, and the branch moves only if it
 * still stands where we looked, so that two machines' or processes' checkpoints never overwrite each other.
 */
import { now } from "../base/clock.ts";
import { faultPoint } from "../base/fault.ts";
import { version } from "../base/version.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import { gitText } from "../git/run.ts";
import { FILE_MODE, TREE_MODE, type Tree, type TreeEntry, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import {
  AGENT_TRAILER,
  BRANCH_TRAILER,
  CHECKPOINT_BRANCH,
  type CheckpointSummary,
  checkpointPath,
  layoutJson,
  METADATA_FILE,
  SESSION_TRAILER,
  type SessionMetadata,
  STRATEGY_TRAILER,
  sessionPaths,
  TASKS_DIRECTORY,
  type TokenUsage,
} from "./layout.ts";
import { parseSessionMetadata, parseSummary } from "./parse.ts";

const ATTEMPTS = 12;
const MOST_SESSIONS = 1_000;

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
  const person = await committer(workspace);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const tip = await readRef(workspace, CHECKPOINT_BRANCH);
    const root = tip === null ? null : await treeOf(objects.reader, tip);
    const tree = await withSessions(objects, root, id, sessions);
    if (tree === root) return;
    const commit = objects.writer.add("commit", Buffer.from(commitText(tree, tip, person, id, sessions)));
    objects.writer.flush();
    faultPoint("checkpoint:objects");
    if (await compareAndSwapRef(workspace, CHECKPOINT_BRANCH, tip, commit)) return;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * (attempt + 1)));
  }
  throw new Error(`The branch ${CHECKPOINT_BRANCH} kept changing.`);
}

async function withSessions(
  { reader, writer, trees }: ObjectStore,
  root: string | null,
  id: string,
  sessions: readonly SessionFiles[],
): Promise<string> {
  const path = checkpointPath(id);
  const directory = await treeAt(trees, root, path);
  const known = await knownSessions(reader, trees, directory);
  const changes = new Map<string, TreeEntry | null>();
  const blob = (text: string): TreeEntry => ({ mode: FILE_MODE, id: writer.add("blob", Buffer.from(text)) });
  for (const session of sessions) {
    const at = known.findIndex((other) => other.session_id === session.metadata.session_id);
    const index = at === -1 ? known.length : at;
    const before = known[index];
    // What somebody added to it since (a summary) is not ours to drop.
    const metadata = before?.summary ? { ...session.metadata, summary: before.summary } : session.metadata;
    if (before && before.created_at !== "") metadata.created_at = before.created_at;
    known[index] = metadata;
    for (const name of (await treeAt(trees, root, `${path}/${index}`)).keys()) {
      if (!session.files.has(name)) changes.set(`${path}/${index}/${name}`, null);
    }
    for (const [name, file] of session.files) changes.set(`${path}/${index}/${name}`, { mode: FILE_MODE, id: file });
    changes.set(`${path}/${index}/${METADATA_FILE}`, blob(layoutJson(metadata)));
    for (const [name, file] of session.tasks)
      changes.set(`${path}/${TASKS_DIRECTORY}/${name}`, { mode: FILE_MODE, id: file });
  }
  changes.set(`${path}/${METADATA_FILE}`, blob(layoutJson(summaryOf(id, known))));
  return trees.apply(root, changes);
}

/** In their order; a session that cannot be understood keeps its place. The branch may be anybody's: nothing is taken for granted. */
async function knownSessions(reader: ObjectReader, trees: TreeStore, directory: Tree): Promise<SessionMetadata[]> {
  const summary = await blobOf(reader, directory.get(METADATA_FILE));
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

async function blobOf(reader: ObjectReader, entry: TreeEntry | undefined): Promise<Buffer | undefined> {
  const object = entry ? await reader.read(entry.id) : undefined;
  return object?.type === "blob" ? object.data : undefined;
}

function unknownSession(): SessionMetadata {
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

function summaryOf(id: string, sessions: readonly SessionMetadata[]): CheckpointSummary {
  const newest = sessions.at(-1) ?? unknownSession();
  const usage = sessions.flatMap(({ token_usage }) => (token_usage ? [token_usage] : []));
  return {
    cli_version: version,
    checkpoint_id: id,
    strategy: newest.strategy,
    ...(newest.branch === undefined ? {} : { branch: newest.branch }),
    checkpoints_count: sessions.reduce((sum, session) => sum + session.checkpoints_count, 0),
    files_touched: [...new Set(sessions.flatMap((session) => session.files_touched))].sort(),
    sessions: sessions.map((_, index) => sessionPaths(id, index)),
    ...(usage.length > 0 ? { token_usage: usage.reduce(addUsage) } : {}),
  };
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

function commitText(
  tree: string,
  parent: string | null,
  person: string,
  id: string,
  sessions: readonly SessionFiles[],
): string {
  const lines = [`tree ${tree}`];
  if (parent !== null) lines.push(`parent ${parent}`);
  lines.push(`author ${person}`, `committer ${person}`, "", `Checkpoint: ${id}`, "");
  for (const { metadata } of sessions) {
    lines.push(`${SESSION_TRAILER}: ${oneWord(metadata.session_id)}`);
  }
  const first = sessions[0]?.metadata;
  if (first) lines.push(`${STRATEGY_TRAILER}: ${first.strategy}`, `${AGENT_TRAILER}: ${first.agent}`);
  if (first?.branch !== undefined) lines.push(`${BRANCH_TRAILER}: ${first.branch}`);
  return `${lines.join("\n")}\n`;
}

/** Ids come from agents: a line break in one must not become a trailer of its own. */
function oneWord(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").slice(0, 200);
}

/** The user as git knows them, at the present time; without a name set, nobody in particular. */
export async function committer(workspace: Workspace): Promise<string> {
  const seconds = Math.floor(now().getTime() / 1000);
  let name = "Backtrail <backtrail@localhost>";
  try {
    const said = await gitText(["var", "GIT_COMMITTER_IDENT"], { cwd: workspace.root });
    name = /^(.*>) \d+ [+-]\d{4}$/.exec(said)?.[1] ?? name;
  } catch {
    // git refuses where no name is set; a checkpoint is worth writing without one.
  }
  return `${name} ${seconds} +0000`;
}

export async function treeOf(reader: ObjectReader, commit: string): Promise<string> {
  const text = (await reader.require(commit, "commit")).toString("latin1");
  const tree = /^tree ([0-9a-f]+)\n/.exec(text)?.[1];
  if (tree === undefined) throw new Error(`The commit ${commit} is damaged.`);
  return tree;
}

async function treeAt(trees: TreeStore, root: string | null, path: string): Promise<Tree> {
  let tree = await trees.read(root);
  for (const part of path.split("/")) {
    const entry = tree.get(part);
    if (entry?.mode !== TREE_MODE) return new Map();
    tree = await trees.read(entry.id);
  }
  return tree;
}
