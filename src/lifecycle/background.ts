/** Starts the worker: detached, silent, and one at a time for a work tree. */
import { join } from "node:path";
import { isHeld } from "../base/lock.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";

export function workerLock(workspace: Workspace): string {
  return join(workspace.stateDir, "worker.lock");
}

export function startWorker(workspace: Workspace): void {
  if (process.env["BACKTRAIL_WORKER"] === "off" || isHeld(workerLock(workspace))) return;
  try {
    const child = Bun.spawn([process.execPath, "worker", workspace.root], {
      cwd: workspace.root,
      stdio: ["ignore", "ignore", "ignore"],
      detached: true,
    });
    child.unref();
  } catch (error) {
    logError("worker", error);
  }
}
