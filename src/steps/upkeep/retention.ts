/**
 * Deletes old steps: those past their retention time, and the oldest beyond the size limit. Keeps named steps and those
 * that a fork was made from; safety steps expire by age only. A session's conversation can outlive its last step
 * (conversation/kept.ts). In git, only Backtrail's refs change; git deletes the objects when it next prunes.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { acquire } from "../../base/fs/lock.ts";
import { sessionKey } from "../../base/ids.ts";
import { gitIn } from "../../git/git.ts";
import { dropSnapshotCache } from "../../git/index/stat-cache.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import { type TreeEntry, TreeStore } from "../../git/objects/trees.ts";
import { ObjectWriter, repositoryPlace } from "../../git/objects/writer.ts";
import {
  changePruneMark,
  privateObjects,
  privatePlace,
  privateRepository,
  readingEnvironment,
  scratchPlace,
} from "../../git/private/store.ts";
import { compareAndSwapRef, readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { recordsFile, removeConversation, rewriteSessionRecords } from "../conversation/files.ts";
import { isKept, keepRecords } from "../conversation/kept.ts";
import { forkedSteps } from "../forks.ts";
import { appendStep, recordsNewestFirst, rewriteIndex } from "../index-file.ts";
import { releaseLeftCommits } from "../left-commits.ts";
import { stepsIn } from "../log.ts";
import { sessionRoots } from "../session-refs.ts";
import { sessionLock, sessionRef, stepPath } from "../session-tree.ts";

const LOCK_WAIT_MS = 5_000;
const OBJECT_ID = /^[0-9a-f]{40,64}$/;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The minimum lifetime of safety steps, however short the retention time is. */
const MIN_SAFETY_DAYS = 7;

export interface Retention {
  days: number;
  /** Bytes on disk. Safety steps do not count. */
  maxSize: number;
  /** Trees that a restore may still need: the size limit does not delete steps with these trees. */
  needed?: ReadonlySet<string>;
}

/** The steps to delete. */
export interface Pruning {
  steps: Step[];
  /** Bytes on disk that only Backtrail's refs hold, before and after. */
  sizeBefore: number;
  sizeAfter: number;
}

/** Changes nothing, except that it may add a few unreferenced trees to the object store. */
export async function planPruning(workspace: Workspace, retention: Retention): Promise<Pruning> {
  return withReader(workspace, async (reader) => {
    const size = (gone: readonly Step[]) => sizeWithout(workspace, reader, gone);
    const forked = forkedSteps(workspace);
    const all = stepsIn(workspace).list();
    const droppable = all.filter(({ id, name }) => name === null && !forked.has(id));
    const times = agesOf(all);
    const isOld = (step: Step) => isExpired(step, times.get(step.id) ?? step.time, retention);
    const steps = droppable.filter(isOld).reverse();
    const left = droppable.filter((step) => !isOld(step));
    const kept = left.filter((step) => isKeptWhateverItTakes(step, retention.needed));
    let others = left.filter((step) => !kept.includes(step));
    const sizeBefore = await size([]);
    let counted = steps.length + kept.length > 0 ? await size([...steps, ...kept]) : sizeBefore;
    while (counted > retention.maxSize) {
      // Always keep the newest step, which users are most likely to go back to.
      const some = others.slice(1).slice(-Math.ceil(others.length / 10));
      if (some.length === 0) break;
      others = others.slice(0, -some.length);
      steps.push(...some.reverse());
      counted = await size([...steps, ...kept]);
    }
    return { steps, sizeBefore, sizeAfter: steps.length > 0 ? await size(steps) : sizeBefore };
  });
}

/** Bytes on disk that only steps hold. */
export async function sizeOfSteps(workspace: Workspace): Promise<number> {
  return withReader(workspace, (reader) => sizeWithout(workspace, reader, []));
}

/** The part of `sizeOfSteps` that counts toward the size limit. */
export async function countedSize(workspace: Workspace, needed: Retention["needed"]): Promise<number> {
  const kept = stepsIn(workspace)
    .list()
    .filter((step) => isKeptWhateverItTakes(step, needed));
  return withReader(workspace, (reader) => sizeWithout(workspace, reader, kept));
}

async function withReader<T>(workspace: Workspace, work: (reader: ObjectReader) => Promise<T>): Promise<T> {
  const reader = new ObjectReader(workspace);
  try {
    return await work(reader);
  } finally {
    reader.close();
  }
}

/** When a safety step that is saved at `from` expires. */
export function safetyKeptUntil(from: Date, days: number): Date {
  return new Date(from.getTime() + Math.max(days, MIN_SAFETY_DAYS) * DAY_MS);
}

/**
 * The effective time of each step, by id. A step is no older than the steps saved before it: an earlier time means that
 * the clock was slow, and the step must not expire as soon as the clock is corrected.
 */
function agesOf(newestFirst: readonly Step[]): Map<string, string> {
  const present = now().toISOString();
  const ages = new Map<string, string>();
  let latest = "";
  for (const { id, time } of newestFirst.toReversed()) {
    // A time in the future comes from a fast clock and must not affect later steps.
    if (time > latest && time <= present) latest = time;
    ages.set(id, time > latest ? time : latest);
  }
  return ages;
}

function isExpired({ kind }: Step, time: string, { days }: Pick<Retention, "days">): boolean {
  const until = kind === "safety" ? Math.max(days, MIN_SAFETY_DAYS) : days;
  return time < new Date(now().getTime() - until * DAY_MS).toISOString();
}

/** Safety steps, and steps that are needed to undo a restore. */
function isKeptWhateverItTakes({ kind, snapshot }: Step, needed: Retention["needed"]): boolean {
  return kind === "safety" || needed?.has(snapshot.work) === true;
}

/** Bytes on disk that only Backtrail's refs would hold without `steps`. Conversations have a separate limit. */
async function sizeWithout(workspace: Workspace, reader: ObjectReader, steps: readonly Step[]): Promise<number> {
  const gone = Map.groupBy(steps, ownerKey);
  // Session trees name only other trees. Write those of the private store there.
  const writer = new ObjectWriter(workspace, scratchPlace(workspace));
  const trees = new TreeStore(reader, writer);
  const roots: string[] = [];
  for (const holder of holdersOf(workspace)) {
    for (const [key, root] of await sessionRoots(holder)) {
      const after = await trees.apply(root, removals(gone.get(key) ?? []));
      if (!(await trees.read(after)).has("steps")) continue;
      roots.push(after);
    }
  }
  writer.flush();
  if (roots.length === 0) return 0;
  // Exclude objects of the user's commits: those on branches, and those that were HEAD when a step was taken.
  const heads = new Set<string>();
  for (const { head } of stepsIn(workspace).newestFirst()) if (head !== null && OBJECT_ID.test(head)) heads.add(head);
  // Without this option git excludes only the commits themselves and still counts all of their files.
  const measure = ["rev-list", "--objects-edge-aggressive", "--disk-usage", "--ignore-missing", "--stdin"];
  const theirs = ["--not", "--branches", "--tags", "--remotes"];
  const input = [...roots, ...[...heads].map((head) => `^${head}`), ""].join("\n");
  const env = readingEnvironment(workspace);
  const said = await gitIn(workspace).text([...measure, ...theirs], { env, input, timeoutMs: 600_000 });
  return Number(said.split("\n").at(-1)) || 0;
}

function removals(steps: readonly Step[]): Map<string, TreeEntry | null> {
  return new Map(steps.map((step) => [stepPath(step), null]));
}

/** With `keep`, the conversation of a session outlives its last step. */
export async function dropSteps(
  workspace: Workspace,
  steps: readonly Step[],
  conversations: "keep" | "drop" = "drop",
): Promise<void> {
  if (steps.length === 0) return;
  // New snapshots must not reuse objects that only these steps held.
  for (const worktree of worktrees(workspace)) dropSnapshotCache({ ...workspace, stateDir: worktree });
  // Notify processes that have already reused such objects.
  changePruneMark(workspace);
  const bySession = Map.groupBy(steps, ownerKey);
  const reader = new ObjectReader(workspace);
  try {
    for (const [key, some] of bySession) await dropFromSession(workspace, reader, key, some, conversations);
  } finally {
    reader.close();
  }
  faultPoint("prune:dropped");
  // Rewrite the list to remove the deleted records, including their prompts.
  rewriteIndex(workspace, (listed) => listed);
  await releaseLeftCommits(workspace);
}

/** The repositories whose refs hold steps: the user's and the private one. */
function holdersOf(workspace: Workspace): Workspace[] {
  return privateObjects(workspace) === undefined ? [workspace] : [workspace, privateRepository(workspace)];
}

async function dropFromSession(
  workspace: Workspace,
  reader: ObjectReader,
  key: string,
  steps: readonly Step[],
  conversations: "keep" | "drop",
): Promise<void> {
  const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
  if (!lock) return;
  try {
    // Before the steps go: a kill in between must not lose the way to the conversation.
    if (conversations === "keep") keepRecords(workspace, key, steps);
    faultPoint("prune:kept");
    for (const holder of holdersOf(workspace)) {
      const before = await readRef(holder, sessionRef(key));
      if (before === null) continue;
      const writer = new ObjectWriter(
        workspace,
        holder === workspace ? repositoryPlace(workspace) : privatePlace(workspace),
      );
      const trees = new TreeStore(reader, writer);
      const after = await trees.apply(before, removals(steps));
      const empty = !(await trees.read(after)).has("steps");
      writer.flush();
      if (!(await compareAndSwapRef(holder, sessionRef(key), before, empty ? null : after))) return;
      faultPoint("prune:ref");
    }
    for (const step of steps) appendStep(workspace, { v: 1, deleted: step.id });
    dropRecords(workspace, key, steps);
    const isLast = (await readRef(workspace, sessionRef(key))) === null && !hasRecords(workspace, key);
    if (isLast && !isKept(workspace, key)) removeConversation(workspace, key);
  } finally {
    lock.release();
  }
}

/** Removes the steps from the second copy of the session's records. */
function dropRecords(workspace: Workspace, key: string, steps: readonly Step[]): void {
  const list = recordsFile(workspace, key);
  if (!existsSync(list)) return;
  const gone = new Set(steps.map(({ id }) => id));
  rewriteSessionRecords(workspace, key, (listed) => listed.filter(({ id }) => !gone.has(id)));
}

function hasRecords(workspace: Workspace, key: string): boolean {
  for (const _ of recordsNewestFirst(recordsFile(workspace, key))) return true;
  return false;
}

/** The session key of a step; steps without an agent use the work tree's key. */
export function ownerKey(step: Step): string {
  return step.agent !== null && step.session !== null
    ? sessionKey(step.agent, step.session)
    : sessionKey("backtrail", step.worktree);
}

function worktrees(workspace: Workspace): string[] {
  const directory = join(workspace.storeDir, "worktrees");
  return readdirSync(directory).map((name) => join(directory, name));
}
