/**
 * A session in the object store: one tree, held by one ref. A ref to a tree and not to a commit, because
 * `git log --all` and every graph viewer walk commits, and the user's history is not ours to fill.
 *
 *     steps/<hour>/<step id>/   step.json, work/, index/, raw/, stages/
 *     transcript/<generation>/<group>/<offset>   the conversation, a segment a turn
 *     tasks/<task key>/<generation>/<group>/<offset>   the conversations of subagents
 */
import { join } from "node:path";
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import type { TreeEntry, TreeStore } from "../git/trees.ts";
import { FILE_MODE, TREE_MODE } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "./model.ts";

export const SESSION_REFS = "refs/backtrail/sessions/";
const ATTEMPTS = 60;
const LONGEST_PAUSE_MS = 25;
/** Segments a group tree holds at most: trees are written again with each segment, so they stay small. */
const GROUP_SIZE = 128;

/** A stretch of a transcript, stored as a blob. */
export interface Segment {
  /** "transcript", or "tasks/<task key>". */
  stream: string;
  generation: number;
  /** Where in the transcript it begins. */
  offset: number;
  id: string;
}

/** A step on its way into its session's tree. */
export interface Addition {
  step: Pick<Step, "id" | "time">;
  stepTree: string;
  segments: Segment[];
  /** Finished late: a segment that is there already was saved since, and reaches at least as far. */
  late?: boolean;
}

/** What a session's ref holds, and what it will hold with the additions made. */
export interface SessionChange {
  before: string | null;
  after: string;
}

export function sessionRef(key: string): string {
  return SESSION_REFS + key;
}

/** Held by whoever changes what is kept of a session. */
export function sessionLock(workspace: Workspace, key: string): string {
  return join(workspace.storeDir, "sessions", `${key}.lock`);
}

/** By the hour, so that the trees on the way to a new step are few, small and the same as for the step before. */
export function stepPath({ id, time }: Pick<Step, "id" | "time">): string {
  return `steps/${time.slice(0, 13)}/${id}`;
}

/** The session's tree with the additions, in the writer but not flushed; making the same ones twice changes nothing. */
export async function prepareSession(
  workspace: Workspace,
  trees: TreeStore,
  key: string,
  additions: readonly Addition[],
): Promise<SessionChange> {
  const before = await readRef(workspace, sessionRef(key));
  const changes = new Map<string, TreeEntry>();
  for (const { step, stepTree, segments, late } of additions) {
    changes.set(stepPath(step), { mode: TREE_MODE, id: stepTree });
    for (const segment of segments) {
      const { path, known } = await segmentPath(trees, before, segment, changes);
      if (!known || !late) changes.set(path, { mode: FILE_MODE, id: segment.id });
    }
  }
  return { before, after: await trees.apply(before, changes) };
}

/** Moves the session's ref to the prepared tree, or, if somebody else moved it meanwhile, to one made anew. */
export async function moveSession(
  workspace: Workspace,
  key: string,
  prepared: SessionChange,
  prepareAgain: () => Promise<SessionChange>,
): Promise<void> {
  const ref = sessionRef(key);
  let change = prepared;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (change.after === change.before) return;
    if (await compareAndSwapRef(workspace, ref, change.before, change.after)) return;
    // At different times, or all who wait would collide again.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_PAUSE_MS));
    change = await prepareAgain();
  }
  throw new Error(`The ref ${ref} kept changing.`);
}

async function segmentPath(
  trees: TreeStore,
  root: string | null,
  segment: Segment,
  pending: ReadonlyMap<string, TreeEntry>,
): Promise<{ path: string; known: boolean }> {
  const stream = `${segment.stream}/${segment.generation}`;
  const name = offsetName(segment.offset);
  const groups = [...(await directoryAt(trees, root, stream)).keys()];
  for (const path of pending.keys()) {
    if (path.startsWith(`${stream}/`)) groups.push(path.slice(stream.length + 1).split("/")[0] ?? "");
  }
  const group = groups.sort().findLast((first) => first <= name) ?? name;
  const stored = await directoryAt(trees, root, `${stream}/${group}`);
  const known = stored.has(name);
  const size = stored.size + [...pending.keys()].filter((path) => path.startsWith(`${stream}/${group}/`)).length;
  const full = size >= GROUP_SIZE && !known && group === groups.at(-1);
  return { path: `${stream}/${full ? name : group}/${name}`, known };
}

/** The tree at a path below `root`; empty where there is none. */
export async function directoryAt(trees: TreeStore, root: string | null, path: string) {
  let tree = await trees.read(root);
  for (const part of path.split("/")) {
    const entry = tree.get(part);
    if (entry?.mode !== TREE_MODE) return new Map<string, TreeEntry>();
    tree = await trees.read(entry.id);
  }
  return tree;
}

/** Names sort as their numbers do. */
export function offsetName(offset: number): string {
  return String(offset).padStart(14, "0");
}
