/** Starts the worker: detached, silent, and one at a time for a work tree. */
import { join } from "node:path";
import { isHeld } from "../base/lock.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";

export function workerLock(workspace: Workspace): string {
  return join(workspace.stateDir, "worker.lock");
}

export function startWorker(workspace: Workspace): void {
  if (!isHeld(workerLock(workspace))) start(workspace, ["worker", workspace.root]);
}

/** The push that waits: a process of its own, since a remote may keep it waiting for minutes. */
export function startPusher(workspace: Workspace): void {
  start(workspace, ["worker", workspace.root, "push"]);
}

function start(workspace: Workspace, args: string[]): void {
  if (process.env["BACKTRAIL_WORKER"] === "off") return;
  try {
    const child = Bun.spawn([process.execPath, ...args], {
      cwd: workspace.root,
      stdio: ["ignore", "ignore", "ignore"],
      detached: true,
    });
    child.unref();
  } catch (error) {
    logError("worker", error);
  }
}
