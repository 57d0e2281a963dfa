/**
 * Records when an agent's hook last reached Backtrail in a work tree: one small file per agent, written at most once a
 * minute, so that a hook usually costs one extra read. Only this record reveals hooks that an agent never calls.
 */
import { join } from "node:path";
import { isAgentId } from "../../agents/contract/profile.ts";
import { now } from "../../base/clock.ts";
import { readText, writeFileAtomic } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import type { Workspace } from "../../git/workspace.ts";

const MIN_INTERVAL_MS = 60_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Never throws: recording matters more than this timestamp. */
export function noteHeard(workspace: Workspace, agent: string): void {
  if (!isAgentId(agent)) return;
  try {
    const time = now();
    const before = lastHeard(workspace, agent);
    // `Math.abs`: if the clock was set back, the old time must still be replaced.
    if (before !== null && Math.abs(time.getTime() - Date.parse(before)) < MIN_INTERVAL_MS) return;
    writeFileAtomic(fileOf(workspace, agent), `${time.toISOString()}\n`);
  } catch (error) {
    logError("last heard", error);
  }
}

/** Null if no hook of the agent has reached Backtrail in this work tree, or the file is invalid. */
export function lastHeard(workspace: Workspace, agent: string): string | null {
  try {
    const text = readText(fileOf(workspace, agent))?.trim() ?? "";
    return TIME.test(text) && !Number.isNaN(Date.parse(text)) ? text : null;
  } catch {
    return null;
  }
}

function fileOf({ stateDir }: Workspace, agent: string): string {
  return join(stateDir, "heard", agent);
}
