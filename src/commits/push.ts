/**
 * Pushes checkpoints after the user's own pushes. git's hook only records the request; a separate process pushes, so
 * that neither the user nor the worker waits, and a failed push is retried later.
 */
import { messageOf } from "../base/errors.ts";
import { faultPoint } from "../base/fault-point.ts";
import { readText, removeFile, writeFileAtomic } from "../base/fs/files.ts";
import { log, logError, logTo } from "../base/log.ts";
import { findRemote } from "../checkpoints/sync/remote.ts";
import {
  completeRequest,
  isDue,
  pushMark,
  remoteState,
  requestedPush,
  requestPush,
} from "../checkpoints/sync/state.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { startPusher, startWorker } from "../recording/start-worker.ts";

const MAX_ROUNDS = 3;

/** Handles git's pre-push hook, for every push to any remote. */
export function beforePush(cwd: string): void {
  const workspace = findWorkspace(cwd);
  if (workspace?.kind !== "repository" || !isEnabled(workspace)) return;
  logTo(workspace.storeDir);
  const config = configOf(workspace);
  // The setting may have been turned off without removing the mark that enables the hook.
  if (!config.push.enabled) removeFile(pushMark(workspace));
  if (!config.push.enabled || !config.enabled) return;
  requestPush(workspace);
  faultPoint("push:wished");
  // The worker writes pending checkpoints, then starts the push.
  startWorker(workspace);
}

/** How git's pre-push hook treats a push that would include conversations or recorded states unintentionally. */
export function unaskedPush(cwd: string): Config["push"]["unasked"] {
  const workspace = findWorkspace(cwd);
  if (workspace?.kind !== "repository" || !isEnabled(workspace)) return "warn";
  return configOf(workspace).push.unasked;
}

/** Syncs the mark that makes git's hook call Backtrail, and names the remote that may have checkpoints. Several files hold settings, so the mark can be outdated. */
export async function markPush(workspace: Workspace): Promise<void> {
  if (workspace.kind !== "repository" || !isEnabled(workspace)) return;
  const mark = pushMark(workspace);
  const { enabled, remote } = configOf(workspace).push;
  const wanted = `${remote.replaceAll("\n", " ")}\n`;
  if (enabled && readText(mark) !== wanted) writeFileAtomic(mark, wanted);
  else if (!enabled) removeFile(mark);
}

/** Starts the requested push, unless the last one failed too recently. */
export async function pushIfDue(workspace: Workspace): Promise<void> {
  const request = requestedPush(workspace);
  if (!request) return;
  const { push } = configOf(workspace);
  if (!push.enabled) return completeRequest(workspace, request);
  try {
    const remote = await findRemote(workspace, push.remote);
    if (isDue(request, remoteState(workspace, remote.key))) startPusher(workspace);
  } catch (error) {
    log("warn", "push", messageOf(error));
  }
}

/** The entry point of the push process. */
export async function runPusher(root: string): Promise<number> {
  const workspace = findWorkspace(root);
  if (!workspace || !isEnabled(workspace)) return 0;
  logTo(workspace.storeDir);
  try {
    // The user may push again during this push, which requests another round.
    for (let round = 0; round < MAX_ROUNDS && (await pushOnce(workspace)); round++);
  } catch (error) {
    logError("push", error);
  }
  return 0;
}

/** Returns whether a push was due and succeeded. */
async function pushOnce(workspace: Workspace): Promise<boolean> {
  const request = requestedPush(workspace);
  if (!request) return false;
  const { push: settings } = configOf(workspace);
  if (!settings.enabled) {
    completeRequest(workspace, request);
    return false;
  }
  const remote = await findRemote(workspace, settings.remote);
  if (!isDue(request, remoteState(workspace, remote.key))) return false;
  const { push } = await import("../checkpoints/sync/sync.ts");
  await push(workspace, remote, { seconds: settings.timeout });
  completeRequest(workspace, request);
  return true;
}

function configOf(workspace: Workspace): Config {
  return loadConfig(workspace);
}
