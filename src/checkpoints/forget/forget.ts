/**
 * Removes conversations from checkpoints: deletes their text, keeps what readers of the format need and the attribution
 * of lines. A branch that never left this machine is rewritten, so that none of its commits has the conversation. If
 * others have the branch, a new commit removes it and earlier commits keep it: shared history is not rewritten.
 */

import { faultPoint } from "../../base/fault-point.ts";
import { gitIn } from "../../git/git.ts";
import type { ObjectStore } from "../../git/objects/object-store.ts";
import { FILE_MODE, type TreeEntry } from "../../git/objects/trees.ts";
import { removeReflog } from "../../git/reflog.ts";
import { compareAndSwapRef, readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { placeholdersIn } from "../../transcripts/redact/placeholders.ts";
import { checkpointPlaces, whileObjectsStay } from "../branch/location.ts";
import { type CheckpointFilter, rewriteHistory, sharedCheckpointRefs } from "../branch/rewrite-history.ts";
import {
  BACKTRAIL_FILE,
  CHECKPOINT_BRANCH,
  CONTENT_HASH_FILE,
  CONTEXT_FILE,
  contentHash,
  layoutJson,
  METADATA_FILE,
  PROMPT_FILE,
  REMOVED,
  REMOVED_TRANSCRIPT,
  TASK_FILE,
  TRANSCRIPT_FILE,
} from "../format/layout.ts";
import { parseBacktrailRecord, parseSessionMetadata, parseTask } from "../format/parse.ts";
import { CheckpointError } from "../problems.ts";
import { committingIn, treeOf, writeCommit } from "../write/commit.ts";
import { openObjects } from "../write/write.ts";
import { forgottenSessions } from "./tombstones.ts";

const ATTEMPTS = 12;
const SESSION_FILE = /^([0-9a-f]{2}\/[0-9a-f]{10}\/(?:0|[1-9]\d{0,5}))\/(.+)$/;
const TASK = /^([0-9a-f]{2}\/[0-9a-f]{10}\/tasks\/[^/]+)\/(.+)$/;

/** Replacements for files that the format's readers expect in every session. */
const IN_PLACE: Readonly<Record<string, string>> = {
  [TRANSCRIPT_FILE]: REMOVED_TRANSCRIPT,
  [CONTENT_HASH_FILE]: contentHash(Buffer.from(REMOVED_TRANSCRIPT)),
  [PROMPT_FILE]: "",
  [CONTEXT_FILE]: `# Session context\n\n${REMOVED}\n`,
};

/** The directories of the sessions in checkpoints, and of their tasks. */
interface Found {
  sessions: Set<string>;
  tasks: Set<string>;
}

/** Counts the checkpoints that contain any of these sessions (ids). */
export async function checkpointsWith(workspace: Workspace, ids: ReadonlySet<string>): Promise<number> {
  const found = new Set<string>();
  for (const place of workspace.kind === "private" ? [] : checkpointPlaces(workspace))
    for (const directory of await directoriesIn(place, ids)) found.add(directory.slice(0, 13));
  return found.size;
}

/** Counts those in the user's repository: data removed from there stays until git prunes it. */
export async function publicCheckpointsWith(workspace: Workspace, ids: ReadonlySet<string>): Promise<number> {
  if (workspace.kind === "private") return 0;
  return new Set((await directoriesIn(workspace, ids)).map((directory) => directory.slice(0, 13))).size;
}

async function directoriesIn(place: Workspace, ids: ReadonlySet<string>): Promise<string[]> {
  const tip = await readRef(place, CHECKPOINT_BRANCH);
  if (tip === null) return [];
  using objects = openObjects(place);
  const { sessions } = await find(objects, await filesOf(place, tip), (id) => ids.has(id));
  return [...sessions];
}

/** Removes the sessions' text from all checkpoints; returns the placeholders that no longer occur anywhere. */
export async function forgetInCheckpoints(workspace: Workspace, ids: ReadonlySet<string>): Promise<string[]> {
  if (workspace.kind === "private") return [];
  const orphans: string[] = [];
  for (const place of checkpointPlaces(workspace))
    orphans.push(...(await whileObjectsStay(place, () => forgetAt(place, ids))));
  return orphans;
}

async function forgetAt(workspace: Workspace, ids: ReadonlySet<string>): Promise<string[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const tip = await readRef(workspace, CHECKPOINT_BRANCH);
    if (tip === null) return [];
    using objects = openObjects(workspace);
    const files = await filesOf(workspace, tip);
    const found = await find(objects, files, (id) => ids.has(id));
    const changes = await without(objects, files, found);
    const isShared = (await sharedCheckpointRefs(workspace)).length > 0;
    const filter: CheckpointFilter = async (some) =>
      without(objects, some, await find(objects, some, (id) => ids.has(id)));
    const commit = isShared
      ? await commitOnTop(workspace, objects, tip, changes)
      : await rewriteHistory(workspace, objects, tip, filter);
    if (commit === tip) return [];
    const orphans = await placeholdersOnlyIn(objects, files, changes);
    faultPoint("forget:objects");
    if (await compareAndSwapRef(workspace, CHECKPOINT_BRANCH, tip, commit)) {
      await removeReflog(workspace, CHECKPOINT_BRANCH);
      return orphans;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * (attempt + 1)));
  }
  throw new CheckpointError("failed", { kind: "checkpoint-branch-moving", branch: CHECKPOINT_BRANCH });
}

async function commitOnTop(
  workspace: Workspace,
  objects: ObjectStore,
  tip: string,
  changes: ReadonlyMap<string, TreeEntry | null>,
): Promise<string> {
  const root = await treeOf(objects.reader, tip);
  const tree = await objects.trees.apply(root, changes);
  if (tree === root) return tip;
  objects.writer.flush();
  const parts = { tree, parents: [tip], message: "Forget conversations\n" };
  return writeCommit(objects, await committingIn(workspace), parts);
}

/**
 * Removes forgotten sessions' text from a freshly merged tree of checkpoints, since a remote may still have it. Looks
 * only at the given checkpoints.
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
      name === METADATA_FILE || name === BACKTRAIL_FILE
        ? silent(name, await objects.reader.require(id, "blob"))
        : (IN_PLACE[name ?? ""] ?? null);
    if (kept === null) changes.set(path, null);
    else changes.set(path, { mode: FILE_MODE, id: objects.writer.add("blob", Buffer.from(kept)) });
  }
  return changes;
}

/** Removes text, but keeps the session, times, files and lines. Returns null if the file is unreadable. */
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

/** Maps paths to blobs, for plain files. */
async function filesOf(workspace: Workspace, root: string): Promise<Map<string, string>> {
  const listed = await gitIn(workspace).run(["ls-tree", "-r", "-z", "--full-tree", root]);
  const files = new Map<string, string>();
  for (const line of listed.toString("utf8").split("\0")) {
    const [, mode, id = "", path = ""] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    if (mode !== undefined && mode !== "120000") files.set(path, id);
  }
  return files;
}
