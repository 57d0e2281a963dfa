/** Starts the worker: detached, silent, and one at a time for a work tree. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { removeFile, writeFileAtomic } from "../base/files.ts";
import { isHeld } from "../base/lock.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";

export function workerLock(workspace: Workspace): string {
  return join(workspace.stateDir, "worker.lock");
}

/** `again`: one that is busy may be past what is to be done now, and goes once more through everything. */
export function startWorker(workspace: Workspace, again = false): void {
  if (isHeld(workerLock(workspace))) {
    if (again) askAgain(workspace);
    if (!again || isHeld(workerLock(workspace))) return;
  }
  start(workspace, ["worker", workspace.root]);
}

/** Whether somebody found the worker busy since it began; asked once, it is forgotten. */
export function isAskedAgain(workspace: Workspace): boolean {
  const mark = askedAgain(workspace);
  if (!existsSync(mark)) return false;
  removeFile(mark);
  return true;
}

function askAgain(workspace: Workspace): void {
  if (process.env["BACKTRAIL_WORKER"] === "off") return;
  try {
    writeFileAtomic(askedAgain(workspace), "");
  } catch (error) {
    logError("worker", error);
  }
}

function askedAgain(workspace: Workspace): string {
  return join(workspace.stateDir, "worker.again");
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
