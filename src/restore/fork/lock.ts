/** Allows one fork per store to be created or dropped at a time. */

import { join } from "node:path";
import { acquire, type Lock, tryAcquire } from "../../base/fs/lock.ts";
import type { Workspace } from "../../git/workspace.ts";
import { ForkError } from "./problems.ts";

const LOCK_WAIT_MS = 5_000;

export async function lockForks(workspace: Workspace): Promise<Lock> {
  const lock = await acquire(lockFile(workspace), LOCK_WAIT_MS);
  if (lock) return lock;
  throw new ForkError("refused", { kind: "forks-locked" });
}

export function tryLockForks(workspace: Workspace): Lock | undefined {
  return tryAcquire(lockFile(workspace));
}

function lockFile(workspace: Workspace): string {
  return join(workspace.storeDir, "forks.lock");
}
