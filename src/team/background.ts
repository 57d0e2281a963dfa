/**
 * Sends in the background: the worker starts a separate process after its tasks, so that no hook, commit or check waits
 * for a network. A forgotten session is tried again soon; everything else waits for its pause to end.
 */
import { existsSync } from "node:fs";
import { logError, logTo } from "../base/log.ts";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { startSender } from "../recording/start-worker.ts";
import { readMembership } from "./membership.ts";
import { readShare, teamDirectory } from "./sharing.ts";
import { isDue, readSendState } from "./state.ts";

/** While a `forget` has not reached the hub, one process keeps retrying. */
const FORGET_PAUSE_MS = 20_000;
const FORGET_PATIENCE_MS = 3_600_000;

/** Called by the worker. Costs one look at a directory where nothing is shared. */
export async function sendInBackground(root: string): Promise<void> {
  const workspace = findWorkspace(root);
  if (!workspace || !existsSync(teamDirectory(workspace))) return;
  try {
    if (isDue(readSendState(workspace)) || (await mustForget(workspace))) startSender(workspace);
  } catch (error) {
    logError("team", error);
  }
}

/** Whether the team's hub has yet to forget a session that was forgotten here. */
export async function hubMustForget(workspace: Workspace): Promise<boolean> {
  if (!existsSync(teamDirectory(workspace)) || !readMembership()) return false;
  return mustForget(workspace);
}

/** The entry point of the sending process. */
export async function runSender(root: string): Promise<number> {
  const workspace = findWorkspace(root);
  if (!workspace || !isEnabled(workspace)) return 0;
  logTo(workspace.storeDir);
  try {
    const membership = readMembership();
    if (!membership) return 0;
    const { send } = await import("./send.ts");
    const deadline = performance.now() + FORGET_PATIENCE_MS;
    for (;;) {
      const result = await send(workspace, membership);
      const mayHelp = result.kind === "failed" && result.failure.next !== null;
      if (!mayHelp || !(await mustForget(workspace)) || performance.now() > deadline) break;
      await new Promise((resolve) => setTimeout(resolve, FORGET_PAUSE_MS));
    }
  } catch (error) {
    logError("team", error);
  }
  return 0;
}

async function mustForget(workspace: Workspace): Promise<boolean> {
  const { waitingFor } = await import("./send.ts");
  return waitingFor(workspace, readShare(workspace), null, readSendState(workspace)).forgotten.length > 0;
}
