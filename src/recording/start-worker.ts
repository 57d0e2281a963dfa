/** Starts the background worker: detached, silent, and one per work tree. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { removeFile, writeFileAtomic } from "../base/fs/files.ts";
import { isHeld } from "../base/fs/lock.ts";
import { logError } from "../base/log.ts";
import { ownProgram, spawn } from "../base/runtime.ts";
import type { Workspace } from "../git/workspace.ts";

export function workerLock(workspace: Workspace): string {
  return join(workspace.stateDir, "worker.lock");
}

/** With `again`, a running worker repeats its whole run, since it may have passed the new work already. */
export function startWorker(workspace: Workspace, again = false): void {
  if (isHeld(workerLock(workspace))) {
    if (again) requestRerun(workspace);
    if (!again || isHeld(workerLock(workspace))) return;
  }
  start(workspace, ["worker", workspace.root]);
}

/** Returns and clears the rerun request. */
export function consumeRerunRequest(workspace: Workspace): boolean {
  const mark = askedAgain(workspace);
  if (!existsSync(mark)) return false;
  removeFile(mark);
  return true;
}

function requestRerun(workspace: Workspace): void {
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

/** Starts the requested push in a separate process, since a remote may take minutes. */
export function startPusher(workspace: Workspace): void {
  start(workspace, ["worker", workspace.root, "push"]);
}

/** Sends to the team's hub in a separate process, for the same reason. */
export function startSender(workspace: Workspace): void {
  start(workspace, ["worker", workspace.root, "send"]);
}

function start(workspace: Workspace, args: string[]): void {
  // Embedded in another program, Backtrail leaves the work to the next hook or command.
  if (process.env["BACKTRAIL_WORKER"] === "off" || ownProgram === null) return;
  try {
    const silent = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;
    const child = spawn(ownProgram, args, { ...silent, cwd: workspace.root, detached: true });
    child.unref();
  } catch (error) {
    logError("worker", error);
  }
}
