/**
 * Stores a session's code in the object store: one tree, held by one ref. The ref points to a tree instead of a commit,
 * because `git log --all` and graph viewers walk commits, and Backtrail must not clutter the user's history.
 *
 *     steps/<hour>/<step id>/   work/, index/, raw/, stages/
 *
 * The tree does not contain the conversation (conversation/files.ts). Sessions of earlier versions also have
 * `step.json` in each step and the conversation in `transcript/` and `tasks/`, until they are migrated
 * (upkeep/migrate.ts).
 */
import { join } from "node:path";
import type { TreeEntry, TreeStore } from "../git/objects/trees.ts";
import { TREE_MODE } from "../git/objects/trees.ts";
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../model/step.ts";

export const SESSION_REFS = "refs/backtrail/sessions/";
const ATTEMPTS = 60;
const MAX_PAUSE_MS = 25;

/** A step to add to its session's tree. */
export interface Addition {
  step: Pick<Step, "id" | "time">;
  stepTree: string;
}

/** The tree of a session's ref before and after the additions. */
export interface SessionChange {
  before: string | null;
  after: string;
}

export function sessionRef(key: string): string {
  return SESSION_REFS + key;
}

/** The lock for changes to a session's stored data. */
export function sessionLock(workspace: Workspace, key: string): string {
  return join(workspace.storeDir, "sessions", `${key}.lock`);
}

/** Groups steps by hour, so that adding a step rewrites only a few small trees. */
export function stepPath({ id, time }: Pick<Step, "id" | "time">): string {
  return `steps/${time.slice(0, 13)}/${id}`;
}

/** Adds the session's new tree to the writer without flushing it. Repeated additions change nothing. */
export async function prepareSession(
  workspace: Workspace,
  trees: TreeStore,
  key: string,
  additions: readonly Addition[],
): Promise<SessionChange> {
  const before = await readRef(workspace, sessionRef(key));
  const changes = new Map<string, TreeEntry>();
  for (const { step, stepTree } of additions) changes.set(stepPath(step), { mode: TREE_MODE, id: stepTree });
  return { before, after: await trees.apply(before, changes) };
}

/** Moves the session's ref to the prepared tree; prepares it again if another process has moved the ref. */
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
    // Wait for a random time, so that competing processes do not collide again.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE_MS));
    change = await prepareAgain();
  }
  throw new Error(`The ref ${ref} kept changing.`);
}

/** The tree at a path below `root`; empty if there is none. */
export async function directoryAt(trees: TreeStore, root: string | null, path: string) {
  let tree = await trees.read(root);
  for (const part of path.split("/")) {
    const entry = tree.get(part);
    if (entry?.mode !== TREE_MODE) return new Map<string, TreeEntry>();
    tree = await trees.read(entry.id);
  }
  return tree;
}
