/**
 * Runs the background tasks that no hook waits for: finishes interrupted saves, refreshes the private index, expires
 * and packs objects. Every task can be killed at any point and repeated.
 */
import { join } from "node:path";
import { namesIn } from "../base/fs/files.ts";
import { type Lock, tryAcquire } from "../base/fs/lock.ts";
import { logError, logTo } from "../base/log.ts";
import { relocateCheckpoints } from "../checkpoints/branch/relocate.ts";
import { repairGitHooks } from "../checkpoints/git-hooks/install.ts";
import { hasQueue } from "../checkpoints/write/queue.ts";
import { commitTurns } from "../commits/auto-commit.ts";
import { finishCommit } from "../commits/hooks.ts";
import { markPush, pushIfDue } from "../commits/push.ts";
import { tidyPending, writeCheckpoints } from "../commits/write-checkpoints.ts";
import { gitIn } from "../git/git.ts";
import { scanIgnored } from "../git/ignored/scan.ts";
import { privateIndex, warmPrivateIndex } from "../git/index/private-index.ts";
import { advancePrivateStore } from "../git/index/private-store-index.ts";
import { findRewritten } from "../git/index/same-second.ts";
import { refreshInexact } from "../git/inexact/refresh.ts";
import { packLooseObjects } from "../git/objects/pack-loose.ts";
import { packPrivateObjects } from "../git/private/upkeep.ts";
import { findLargeFiles } from "../git/snapshot/large-files.ts";
import { scanPermissions } from "../git/snapshot/permission-scan.ts";
import { MANY_PACKS } from "../git/snapshot/snapshot.ts";
import { restartWideTreeCount } from "../git/wide/count.ts";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { consumeRerunRequest, workerLock } from "../recording/start-worker.ts";
import { finishSaves } from "../steps/save.ts";
import { expireIfDue } from "./expiry.ts";
import { finishForgetting } from "./forget/forget.ts";
import { migrateEarlierStore } from "./migration.ts";
import { putBackInBackground } from "./put-back.ts";

const MAX_ROUNDS = 3;

type Task = (workspace: Workspace) => Promise<unknown>;

const TASKS: readonly Task[] = [
  finishSaves,
  finishForgetting,
  migrateEarlierStore,
  finishCommit,
  commitTurns,
  relocateCheckpoints,
  writeCheckpoints,
  tidyPending,
  repairGitHooks,
  putBackInBackground,
  markPush,
  advancePrivateStore,
  findLargeFiles,
  warmPrivateIndex,
  compareTimes,
  refreshInexact,
  scanPermissions,
  scanIgnored,
  expireIfDue,
  packLooseObjects,
  packPrivateObjects,
  restartWideTreeCount,
  joinPacks,
];

export async function runWorker(root: string, again = 0): Promise<number> {
  const workspace = findWorkspace(root);
  if (!workspace || !isEnabled(workspace)) return 0;
  logTo(workspace.storeDir);
  const lock = lockFor(workspace);
  if (!lock) return 0;
  consumeRerunRequest(workspace);
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
  // Run again for hooks that found the worker busy: they rely on it to write a checkpoint or commit a turn.
  if ((hasQueue(workspace) || consumeRerunRequest(workspace)) && again < MAX_ROUNDS) return runWorker(root, again + 1);
  // Check after releasing the lock: a process that requested a push while the lock was held relies on this one.
  await pushIfDue(workspace);
  return 0;
}

/** Undefined if another worker runs, or if the disk is full or read-only. */
function lockFor(workspace: Workspace): Lock | undefined {
  try {
    return tryAcquire(workerLock(workspace));
  } catch (error) {
    logError("worker", error);
    return undefined;
  }
}

/** Compares the files that were too many for a hook. */
async function compareTimes(workspace: Workspace): Promise<void> {
  findRewritten(workspace, privateIndex(workspace).path, false);
}

/**
 * Joins small packs, since each turn may add one. `--geometric` keeps every object of the packs that it joins, even
 * unreferenced ones.
 */
async function joinPacks(workspace: Workspace): Promise<void> {
  const packs = namesIn(join(workspace.commonDir, "objects", "pack")).filter((name) => name.endsWith(".idx"));
  if (packs.length < MANY_PACKS) return;
  await gitIn(workspace).try(["repack", "--quiet", "-d", "--geometric=2"], { timeoutMs: 600_000 });
}
