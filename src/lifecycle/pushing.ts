/**
 * Checkpoints that follow the user's own pushes. git's hook only notes the wish and goes; the push is made by a process of its own,
 * which neither the user nor the worker waits for, and tried again later where it failed.
 */
import { existsSync } from "node:fs";
import { messageOf } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { removeFile, writeFileAtomic } from "../base/files.ts";
import { log, logError, logTo } from "../base/log.ts";
import { findRemote } from "../checkpoints/sync/remote.ts";
import { fulfilled, isDue, pushMark, remoteState, wishedPush, wishPush } from "../checkpoints/sync/state.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { isTracked } from "../git/tracked.ts";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { startPusher, startWorker } from "./background.ts";

const MOST_ROUNDS = 3;

/** git's pre-push: whatever the user pushes, and wherever to. */
export function beforePush(cwd: string): void {
  const workspace = findWorkspace(cwd);
  if (workspace?.kind !== "repository" || !isEnabled(workspace)) return;
  logTo(workspace.storeDir);
  const config = configOf(workspace);
  // It may have been turned off where nobody could tell the hook.
  if (!config.push.enabled) removeFile(pushMark(workspace));
  if (!config.push.enabled || !config.enabled) return;
  wishPush(workspace);
  faultPoint("push:wished");
  // The worker writes what waits to be written, and then sees to the push.
  startWorker(workspace);
}

/** Settings come from several files: whether git's hook is to call us is put right whenever somebody looks. */
export async function markPush(workspace: Workspace): Promise<void> {
  if (workspace.kind !== "repository" || !isEnabled(workspace)) return;
  const mark = pushMark(workspace);
  const { enabled } = configOf(workspace).push;
  if (enabled && !existsSync(mark)) writeFileAtomic(mark, "");
  else if (!enabled) removeFile(mark);
}

/** Starts the push that waits, unless the last one failed too short a time ago. */
export async function pushIfDue(workspace: Workspace): Promise<void> {
  const wish = wishedPush(workspace);
  if (!wish) return;
  const { push } = configOf(workspace);
  if (!push.enabled) return fulfilled(workspace, wish);
  try {
    const remote = await findRemote(workspace, push.remote);
    if (isDue(wish, remoteState(workspace, remote.key))) startPusher(workspace);
  } catch (error) {
    log("warn", "push", messageOf(error));
  }
}

/** The process that pushes. */
export async function runPusher(root: string): Promise<number> {
  const workspace = findWorkspace(root);
  if (!workspace || !isEnabled(workspace)) return 0;
  logTo(workspace.storeDir);
  try {
    // A push of the user's while ours is under way wishes for another.
    for (let round = 0; round < MOST_ROUNDS && (await pushOnce(workspace)); round++);
  } catch (error) {
    logError("push", error);
  }
  return 0;
}

/** Whether there was something to do, and it went well. */
async function pushOnce(workspace: Workspace): Promise<boolean> {
  const wish = wishedPush(workspace);
  if (!wish) return false;
  const { push: settings } = configOf(workspace);
  if (!settings.enabled) {
    fulfilled(workspace, wish);
    return false;
  }
  const remote = await findRemote(workspace, settings.remote);
  if (!isDue(wish, remoteState(workspace, remote.key))) return false;
  const { push } = await import("../checkpoints/sync/sync.ts");
  await push(workspace, remote, { seconds: settings.timeout });
  fulfilled(workspace, wish);
  return true;
}

function configOf(workspace: Workspace): Config {
  return loadConfig(workspace.root, { isTracked: (file) => isTracked(workspace, file) });
}
