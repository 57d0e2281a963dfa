/** Only one fork of a store is made or dropped at a time. */
import { join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { acquire, type Lock, tryAcquire } from "../../base/lock.ts";
import type { Workspace } from "../../git/workspace.ts";

const LOCK_WAIT_MS = 5_000;

export async function lockForks(workspace: Workspace): Promise<Lock> {
  const lock = await acquire(lockFile(workspace), LOCK_WAIT_MS);
  if (lock) return lock;
  throw new UserError("refused", "Another fork is being made or dropped.", "Wait until it is done, then try again.");
}

export function tryLockForks(workspace: Workspace): Lock | undefined {
  return tryAcquire(lockFile(workspace));
}

function lockFile(workspace: Workspace): string {
  return join(workspace.storeDir, "forks.lock");
}
