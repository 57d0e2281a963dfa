/**
 * Conversations taken out of checkpoints by a new commit on their branch: what was said goes, what the format needs to be read
 * and what tells lines apart stays. Earlier commits of the branch keep it; nobody's history is rewritten here.
 */
import { UserError } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { gitLocation } from "../git/location.ts";
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import { git } from "../git/run.ts";
import { FILE_MODE, type TreeEntry } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { placeholdersIn } from "../transcripts/redact/placeholders.ts";
import { committingIn, treeOf, writeCommit } from "./commit.ts";
import { forgottenSessions } from "./forgotten.ts";
import { BACKTRAIL_FILE, CHECKPOINT_BRANCH, layoutJson, METADATA_FILE, TASK_FILE } from "./layout.ts";
import { parseBacktrailRecord, parseSessionMetadata, parseTask } from "./parse.ts";
import { type ObjectStore, openObjects } from "./write.ts";

const ATTEMPTS = 12;
const SESSION_FILE = /^([0-9a-f]{2}\/[0-9a-f]{10}\/(?:0|[1-9]\d{0,5}))\/(.+)$/;
const TASK = /^([0-9a-f]{2}\/[0-9a-f]{10}\/tasks\/[^/]+)\/(.+)$/;

/** The directories of these sessions in checkpoints, and of their tasks. */
interface Found {
  sessions: Set<string>;
  tasks: Set<string>;
}

/** How many checkpoints hold something of these sessions (ids). */
export async function checkpointsWith(workspace: Workspace, ids: ReadonlySet<string>): Promise<number> {
  const tip = workspace.kind === "private" ? null : await readRef(workspace, CHECKPOINT_BRANCH);
  if (tip === null) return 0;
  const objects = openObjects(workspace);
  try {
    const { sessions } = await find(objects, await filesOf(workspace, tip), (id) => ids.has(id));
    return new Set([...sessions].map((directory) => directory.slice(0, 13))).size;
  } finally {
    objects.reader.close();
  }
}

/** Takes what these sessions said out of all checkpoints; gives the placeholders that stand nowhere else now. */
export async function forgetInCheckpoints(workspace: Workspace, ids: ReadonlySet<string>): Promise<string[]> {
  if (workspace.kind === "private") return [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const tip = await readRef(workspace, CHECKPOINT_BRANCH);
    if (tip === null) return [];
    const objects = openObjects(workspace);
    try {
      const files = await filesOf(workspace, tip);
      const found = await find(objects, files, (id) => ids.has(id));
      const changes = await without(objects, files, found);
      const root = await treeOf(objects.reader, tip);
      const tree = await objects.trees.apply(root, changes);
      if (tree === root) return [];
      const orphans = await placeholdersOnlyIn(objects, files, changes);
      objects.writer.flush();
      const parts = { tree, parents: [tip], message: "Forget conversations\n" };
      const commit = await writeCommit(objects, await committingIn(workspace), parts);
      faultPoint("forget:objects");
      if (await compareAndSwapRef(workspace, CHECKPOINT_BRANCH, tip, commit)) return orphans;
    } finally {
      objects.reader.close();
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * (attempt + 1)));
  }
  throw new UserError("failed", `The branch ${CHECKPOINT_BRANCH} kept changing.`, "Try again in a moment.");
}

/**
 * A tree of checkpoints, just put together, without what sessions said that were forgotten here: a remote may still have it.
 * Only these checkpoints are looked at.
 */
export async function withoutForgotten(
  workspace: Workspace,
  objects: ObjectStore,
  root: string,
  checkpoints: readonly string[],
): Promise<string> {
  const isForgotten = forgottenSessions(workspace);
  if (!isForgotten || checkpoints.length === 0) return root;
  objects.writer.flush();
  const meant = new Set(checkpoints.map((id) => `${id.slice(0, 2)}/${id.slice(2)}`));
  const files = new Map([...(await filesOf(workspace, root))].filter(([path]) => meant.has(path.slice(0, 13))));
  return objects.trees.apply(root, await without(objects, files, await find(objects, files, isForgotten)));
}

async function find(
  objects: ObjectStore,
  files: ReadonlyMap<string, string>,
  isMeant: (session: string) => boolean,
): Promise<Found> {
  const found: Found = { sessions: new Set(), tasks: new Set() };
  for (const [path, id] of files) {
    const session = SESSION_FILE.exec(path);
    const task = TASK.exec(path);
    if (session?.[2] === METADATA_FILE) {
      const parsed = parseSessionMetadata(await objects.reader.require(id, "blob"));
      if (parsed.ok && isMeant(parsed.value.session_id)) found.sessions.add(session[1] ?? "");
    } else if (task?.[2] === TASK_FILE) {
      const parsed = parseTask(await objects.reader.require(id, "blob"));
      if (parsed.ok && isMeant(parsed.value.session_id)) found.tasks.add(task[1] ?? "");
    }
  }
  return found;
}

async function without(
  objects: ObjectStore,
  files: ReadonlyMap<string, string>,
  { sessions, tasks }: Found,
): Promise<Map<string, TreeEntry | null>> {
  const changes = new Map<string, TreeEntry | null>();
  for (const [path, id] of files) {
    const [, session = "", name] = SESSION_FILE.exec(path) ?? [];
    if (tasks.has(TASK.exec(path)?.[1] ?? "")) changes.set(path, null);
    if (!sessions.has(session)) continue;
    const kept =
      name === METADATA_FILE || name === BACKTRAIL_FILE ? silent(name, await objects.reader.require(id, "blob")) : null;
    if (kept === null) changes.set(path, null);
    else changes.set(path, { mode: FILE_MODE, id: objects.writer.add("blob", Buffer.from(kept)) });
  }
  return changes;
}

/** What was said taken out; whose it was, when, which files and lines stays. Null where it can't be read. */
function silent(name: string, data: Buffer): string | null {
  if (name === METADATA_FILE) {
    const parsed = parseSessionMetadata(data);
    if (!parsed.ok) return null;
    const { summary: _summary, transcript_path: _path, ...rest } = parsed.value;
    return layoutJson(rest);
  }
  const parsed = parseBacktrailRecord(data);
  if (!parsed.ok) return null;
  const steps = parsed.value.steps.map((step) => ({ ...step, prompt: null, response: null }));
  return layoutJson({ ...parsed.value, steps });
}

async function placeholdersOnlyIn(
  { reader }: ObjectStore,
  files: ReadonlyMap<string, string>,
  changes: ReadonlyMap<string, TreeEntry | null>,
): Promise<string[]> {
  const gone = new Set<string>();
  for (const path of changes.keys())
    for (const { text } of placeholdersIn(await reader.require(files.get(path) ?? "", "blob"))) gone.add(text);
  for (const [path, id] of files) {
    if (gone.size === 0) break;
    if (changes.has(path)) continue;
    for (const { text } of placeholdersIn(await reader.require(id, "blob"))) gone.delete(text);
  }
  return [...gone];
}

/** Path → blob, of plain files. */
async function filesOf(workspace: Workspace, root: string): Promise<Map<string, string>> {
  const { args, cwd } = gitLocation(workspace);
  const listed = await git([...args, "ls-tree", "-r", "-z", "--full-tree", root], { cwd });
  const files = new Map<string, string>();
  for (const line of listed.toString("utf8").split("\0")) {
    const [, mode, id = "", path = ""] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    if (mode !== undefined && mode !== "120000") files.set(path, id);
  }
  return files;
}
