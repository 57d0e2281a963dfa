/**
 * What no hook waits for: finishing saves that were cut off, refreshing the private index, pruning, packing.
 * Every task can be killed at any point and done again.
 */
import { join } from "node:path";
import { namesIn } from "../base/files.ts";
import { type Lock, tryAcquire } from "../base/lock.ts";
import { logError, logTo } from "../base/log.ts";
import { repairGitHooks } from "../checkpoints/git-hooks.ts";
import { hasQueue } from "../checkpoints/queue.ts";
import { gitLocation } from "../git/location.ts";
import { packLooseObjects } from "../git/pack-loose.ts";
import { warmPrivateIndex } from "../git/private-index.ts";
import { advancePrivateStore } from "../git/private-store.ts";
import { tryGit } from "../git/run.ts";
import { MANY_PACKS } from "../git/snapshot.ts";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { finishSaves } from "../steps/save.ts";
import { commitTurns } from "./auto-commit.ts";
import { isAskedAgain, workerLock } from "./background.ts";
import { finishCommit } from "./commits.ts";
import { tidyPending, writeCheckpoints } from "./condensing.ts";
import { finishForgetting } from "./forget.ts";
import { pruneSometimes } from "./pruning.ts";
import { markPush, pushIfDue } from "./pushing.ts";

const MOST_ROUNDS = 3;

type Task = (workspace: Workspace) => Promise<unknown>;

const TASKS: readonly Task[] = [
  finishSaves,
  finishForgetting,
  finishCommit,
  commitTurns,
  writeCheckpoints,
  tidyPending,
  repairGitHooks,
  markPush,
  advancePrivateStore,
  warmPrivateIndex,
  pruneSometimes,
  packLooseObjects,
  joinPacks,
];

export async function runWorker(root: string, again = 0): Promise<number> {
  const workspace = findWorkspace(root);
  if (!workspace || !isEnabled(workspace)) return 0;
  logTo(workspace.storeDir);
  const lock = lockFor(workspace);
  if (!lock) return 0;
  isAskedAgain(workspace);
  try {
    for (const task of TASKS) {
      try {
        await task(workspace);
      } catch (error) {
        logError(`worker ${task.name}`, error);
      }
    }
  } finally {
    lock.release();
  }
  // A hook that found the worker busy relies on it: a commit is to be described, a turn to be committed.
  if ((hasQueue(workspace) || isAskedAgain(workspace)) && again < MOST_ROUNDS) return runWorker(root, again + 1);
  // Looked at after the lock is given back: whoever wished for a push meanwhile saw it held, and relies on us.
  await pushIfDue(workspace);
  return 0;
}

/** A disk that is full or read-only: there is nothing that could be done now. */
function lockFor(workspace: Workspace): Lock | undefined {
  try {
    return tryAcquire(workerLock(workspace));
  } catch (error) {
    logError("worker", error);
    return undefined;
  }
}

/**
 * Joins small packs, of which each turn may leave one. `--geometric` takes over every object of the packs that it joins,
 * whether anything refers to it or not.
 */
async function joinPacks(workspace: Workspace): Promise<void> {
  const packs = namesIn(join(workspace.commonDir, "objects", "pack")).filter((name) => name.endsWith(".idx"));
  if (packs.length < MANY_PACKS) return;
  const { args, cwd } = gitLocation(workspace);
  await tryGit([...args, "repack", "--quiet", "-d", "--geometric=2"], { cwd, timeoutMs: 600_000 });
}
