/** Recovers forks whose process was killed: completes creations and drops. */
import { existsSync, realpathSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import { logError } from "../../base/log.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import { DROPPED_REFS, type ForkRecord, listForks } from "../../steps/forks.ts";
import type { ForkRecovery, LeftFiles } from "../notes.ts";
import { removalState } from "../owned/removal.ts";
import { putBackRecord, refId } from "../owned/run-forks.ts";
import { removeStaged } from "./conversation.ts";
import { leftFiles, ownDirectory, removeUnfinishedFork } from "./drop/clear.ts";
import { presenceOf } from "./drop/presence.ts";
import { completeRemoval, type ForkRemoval, readForkRemoval } from "./drop/removal.ts";
import { workspaceOf } from "./find.ts";
import { tryLockForks } from "./lock.ts";
import { completeFork } from "./make.ts";
import { untilMade } from "./worktree.ts";

/** Returns notes for the user; empty if another process still works on it. */
export async function finishForks(workspace: Workspace): Promise<ForkRecovery[]> {
  const lock = tryLockForks(workspace);
  if (!lock) return [];
  const said: ForkRecovery[] = [];
  try {
    for (const record of listForks(workspace)) {
      if (record.state !== "ready" && !isUnderUs(workspace, record)) said.push(...(await finishOne(workspace, record)));
    }
  } finally {
    lock.release();
  }
  return said;
}

/** The current directory can't be deleted: a command run from elsewhere will do it. */
function isUnderUs(workspace: Workspace, record: ForkRecord): boolean {
  if (record.directory === null || !existsSync(record.directory)) return false;
  const mayGo = record.state === "dropping" || !workspaceOf(workspace, record);
  return mayGo && realpathSync(record.directory) === workspace.root;
}

async function finishOne(workspace: Workspace, record: ForkRecord): Promise<ForkRecovery[]> {
  try {
    return record.state === "dropping" ? await removeAgain(workspace, record) : await makeAgain(workspace, record);
  } catch (error) {
    logError("finishing a fork", error);
    const action = isBeingMade(record) ? "make" : "drop";
    return [{ kind: "fork-not-finished", fork: record.name, action, reason: messageOf(error) }];
  }
}

/** If the drop was killed before it renamed the directory, nothing has changed: the fork stays. */
async function removeAgain(workspace: Workspace, record: ForkRecord): Promise<ForkRecovery[]> {
  const job = readForkRemoval(workspace, record);
  if (!job || (await isStillThere(workspace, record, job))) return keep(workspace, record);
  const left = leftFiles((await completeRemoval(workspace, record, job)).left);
  const { name: fork } = record;
  if (isBeingMade(record)) return cleared(workspace, record, left);
  return [
    { kind: "fork-dropped", fork, step: job.step },
    ...(await keptWork(workspace, record)),
    ...job.kept.map(({ to }) => ({ kind: "fork-repository-kept" as const, directory: to })),
    ...(left ? [left] : []),
  ];
}

/** Commits and staged changes that only the fork had, and the refs that hold them now. */
async function keptWork(workspace: Workspace, record: ForkRecord): Promise<ForkRecovery[]> {
  if (workspace.kind === "private") return [];
  const id = refId(record);
  const held = `${DROPPED_REFS}*/${id}*`;
  const { stdout } = await gitIn(workspace).try(["for-each-ref", "--format=%(objecttype) %(refname)", held]);
  const lines = stdout.toString("utf8").split("\n");
  const refs = lines.flatMap((line) => (line.startsWith("commit ") ? [line.slice("commit ".length)] : []));
  return refs.map((ref) => ({
    kind: ref.endsWith(`/${id}-index`) ? "fork-staged-kept" : "fork-commits-kept",
    ref,
  }));
}

/** Before the rename, only the mark is proof: the directory may have been moved, and its inode reused. */
async function isStillThere(workspace: Workspace, record: ForkRecord, { removal }: ForkRemoval): Promise<boolean> {
  if (removal && (removal.begun || removalState(removal) === "begun")) return false;
  if (isBeingMade(record)) return ownDirectory(workspace, record) !== null;
  return (await presenceOf(workspace, record)).state === "here";
}

async function keep(workspace: Workspace, record: ForkRecord): Promise<ForkRecovery[]> {
  removeStaged(workspace, record);
  if (isBeingMade(record)) return makeAgain(workspace, { ...record, state: "making" });
  putBackRecord(workspace, record);
  return [{ kind: "fork-stays", fork: record.name }];
}

async function makeAgain(workspace: Workspace, record: ForkRecord): Promise<ForkRecovery[]> {
  if (record.kind === "worktree" && !(await untilMade(workspace, record)))
    return [{ kind: "fork-running", fork: record.name }];
  // The work tree was never completed, so its files are newer than the fork.
  if (record.kind !== "branch" && !workspaceOf(workspace, record)) {
    return cleared(workspace, record, await removeUnfinishedFork(workspace, record));
  }
  const { record: done, notes } = await completeFork(workspace, record);
  return [{ kind: "fork-finished", fork: record.name, command: done.chat?.command ?? null }, ...notes];
}

function isBeingMade({ making }: ForkRecord): boolean {
  return making !== null;
}

/** The creation was interrupted before the fork had files. */
async function cleared(workspace: Workspace, record: ForkRecord, left: LeftFiles | null): Promise<ForkRecovery[]> {
  const kept = await keptWork(workspace, record);
  return [{ kind: "fork-cleared", fork: record.name }, ...kept, ...(left ? [left] : [])];
}
