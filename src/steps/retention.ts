/**
 * Letting go of old steps: those past the time they are kept, and the oldest beyond the space they may take. Named
 * steps stay, and those that a fork was made from. Only refs of ours change; the objects go when git itself next
 * prunes what nothing refers to.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { now } from "../base/clock.ts";
import { faultPoint } from "../base/fault.ts";
import { sessionKey } from "../base/ids.ts";
import { acquire } from "../base/lock.ts";
import { gitLocation } from "../git/location.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import { gitText } from "../git/run.ts";
import { dropSnapshotCache } from "../git/stat-cache.ts";
import { type TreeEntry, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { forkedSteps } from "./forks.ts";
import { appendStep, rewriteIndex, stepsNewestFirst } from "./index-file.ts";
import type { Step } from "./model.ts";
import { SESSION_REFS, sessionLock, sessionRef, stepPath } from "./session-tree.ts";

const LOCK_WAIT_MS = 5_000;
const OBJECT_ID = /^[0-9a-f]{40,64}$/;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface Retention {
  days: number;
  /** Bytes on disk. */
  maxSize: number;
}

/** What would be let go of. */
export interface Pruning {
  steps: Step[];
  /** Bytes on disk that nothing but our refs holds, before and after. */
  sizeBefore: number;
  sizeAfter: number;
}

/** Changes nothing but the object store, where a few trees that nothing refers to may be added. */
export async function planPruning(workspace: Workspace, retention: Retention): Promise<Pruning> {
  const reader = new ObjectReader(workspace);
  try {
    const forked = forkedSteps(workspace);
    const droppable = [...stepsNewestFirst(workspace)].filter(({ id, name }) => name === null && !forked.has(id));
    const steps = expired(droppable, retention.days);
    const sizeBefore = await sizeWithout(workspace, reader, []);
    let sizeAfter = steps.length > 0 ? await sizeWithout(workspace, reader, steps) : sizeBefore;
    while (sizeAfter > retention.maxSize) {
      const left = droppable.filter((step) => !steps.includes(step)).reverse();
      // The newest step is what a person would go back to first: it stays, whatever it takes.
      const some = left.slice(0, Math.min(Math.ceil(left.length / 10), left.length - 1));
      if (some.length === 0) break;
      steps.push(...some);
      sizeAfter = await sizeWithout(workspace, reader, steps);
    }
    return { steps, sizeBefore, sizeAfter };
  } finally {
    reader.close();
  }
}

/** Bytes on disk that nothing but our steps hold. */
export async function sizeOfSteps(workspace: Workspace): Promise<number> {
  const reader = new ObjectReader(workspace);
  try {
    return await sizeWithout(workspace, reader, []);
  } finally {
    reader.close();
  }
}

/** No longer kept by their age, oldest first. */
function expired(steps: readonly Step[], days: number): Step[] {
  const oldest = new Date(now().getTime() - days * DAY_MS).toISOString();
  return steps.filter((step) => step.time < oldest).reverse();
}

/** Bytes on disk that our refs alone would hold if these steps were gone. */
async function sizeWithout(workspace: Workspace, reader: ObjectReader, steps: readonly Step[]): Promise<number> {
  const gone = Map.groupBy(steps, ownerKey);
  const writer = new ObjectWriter(workspace);
  const trees = new TreeStore(reader, writer);
  const roots: string[] = [];
  for (const [key, root] of await sessionRoots(workspace)) {
    const after = await trees.apply(root, removals(gone.get(key) ?? []));
    if ((await trees.read(after)).has("steps")) roots.push(after);
  }
  writer.flush();
  if (roots.length === 0) return 0;
  // What the user's own commits hold is not ours: of the branches, and of the commits that steps were taken at.
  const heads = new Set<string>();
  for (const { head } of stepsNewestFirst(workspace)) if (head !== null && OBJECT_ID.test(head)) heads.add(head);
  const { args, cwd } = gitLocation(workspace);
  // Without this kind of edge git leaves out commits alone, and counts every file of theirs.
  const measure = ["rev-list", "--objects-edge-aggressive", "--disk-usage", "--ignore-missing", "--stdin"];
  const theirs = ["--not", "--branches", "--tags", "--remotes"];
  const input = [...roots, ...[...heads].map((head) => `^${head}`), ""].join("\n");
  const said = await gitText([...args, ...measure, ...theirs], { cwd, input, timeoutMs: 600_000 });
  return Number(said.split("\n").at(-1)) || 0;
}

async function sessionRoots(workspace: Workspace): Promise<[key: string, root: string][]> {
  const { args, cwd } = gitLocation(workspace);
  const output = await gitText([...args, "for-each-ref", "--format=%(refname) %(objectname)", SESSION_REFS], { cwd });
  return output.split("\n").flatMap((line): [string, string][] => {
    const [ref, root] = line.split(" ");
    return ref && root ? [[ref.slice(SESSION_REFS.length), root]] : [];
  });
}

function removals(steps: readonly Step[]): Map<string, TreeEntry | null> {
  return new Map(steps.map((step) => [stepPath(step), null]));
}

export async function dropSteps(workspace: Workspace, steps: readonly Step[]): Promise<void> {
  if (steps.length === 0) return;
  // From here on nothing may be built on objects that only these steps held.
  for (const worktree of worktrees(workspace)) dropSnapshotCache({ ...workspace, stateDir: worktree });
  const bySession = Map.groupBy(steps, ownerKey);
  const reader = new ObjectReader(workspace);
  try {
    for (const [key, some] of bySession) await dropFromSession(workspace, reader, key, some);
  } finally {
    reader.close();
  }
  faultPoint("prune:dropped");
  // What is gone is gone from the list too, with its prompts.
  rewriteIndex(workspace, (listed) => listed);
}

async function dropFromSession(
  workspace: Workspace,
  reader: ObjectReader,
  key: string,
  steps: readonly Step[],
): Promise<void> {
  const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
  if (!lock) return;
  try {
    const before = await readRef(workspace, sessionRef(key));
    if (before) {
      const writer = new ObjectWriter(workspace);
      const trees = new TreeStore(reader, writer);
      const after = await trees.apply(before, removals(steps));
      const empty = !(await trees.read(after)).has("steps");
      writer.flush();
      if (!(await compareAndSwapRef(workspace, sessionRef(key), before, empty ? null : after))) return;
      faultPoint("prune:ref");
    }
    for (const step of steps) appendStep(workspace, { v: 1, deleted: step.id });
  } finally {
    lock.release();
  }
}

/** Steps that belong to no agent are kept under the work tree's own key. */
export function ownerKey(step: Step): string {
  return step.agent !== null && step.session !== null
    ? sessionKey(step.agent, step.session)
    : sessionKey("backtrail", step.worktree);
}

function worktrees(workspace: Workspace): string[] {
  const directory = join(workspace.storeDir, "worktrees");
  return readdirSync(directory).map((name) => join(directory, name));
}
