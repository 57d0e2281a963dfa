/**
 * Checks steps while no session is working: in the detached worker, one at a time, at the lowest priority and with a
 * time limit. A kill at any point leaves the step unchecked.
 */
import { setPriority } from "node:os";
import { join } from "node:path";
import { faultPoint } from "../../base/fault-point.ts";
import { tryAcquire } from "../../base/fs/lock.ts";
import { logError, logTo } from "../../base/log.ts";
import { loadConfig } from "../../config/load.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../git/workspace.ts";
import { isDead } from "../../recording/orphaned-turns.ts";
import { loadSession, marked } from "../../recording/session/store.ts";
import { Trials } from "../trial/trials.ts";
import { checkStep, experimentFrom, nextToCheck } from "./check.ts";

const LOWEST_PRIORITY = 19;

export async function checkInBackground(root: string): Promise<void> {
  const workspace = findWorkspace(root);
  if (!workspace || !isEnabled(workspace)) return;
  logTo(workspace.storeDir);
  const config = loadConfig(workspace);
  if (config.checks.command.length === 0 || !config.enabled || !isIdle(workspace)) return;
  const lock = tryAcquire(checkLock(workspace));
  if (!lock) return;
  const stop = new AbortController();
  const end = () => stop.abort();
  process.once("SIGTERM", end);
  try {
    const experiment = experimentFrom(config);
    if (!experiment) return;
    setPriority(LOWEST_PRIORITY);
    using trials = new Trials(workspace, experiment, {
      output: "ignore",
      stop: stop.signal,
      by: "check",
      fresh: false,
    });
    while (isIdle(workspace)) {
      const step = nextToCheck(workspace, experiment);
      if (!step) break;
      faultPoint("check:begins");
      await checkStep(trials, step);
    }
  } catch (error) {
    logError("check", error);
  } finally {
    process.off("SIGTERM", end);
    lock.release();
  }
}

export function checkLock(workspace: Workspace): string {
  return join(workspace.stateDir, "check.lock");
}

/** True if no session of this work tree is in a turn. */
function isIdle(workspace: Workspace): boolean {
  return !marked(workspace, "active").some((key) => {
    const state = loadSession(workspace, key);
    return state?.openTurn && !isDead(state);
  });
}
