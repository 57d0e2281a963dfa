/** Detects activity in a directory: agents' sessions, other processes, and unfinished git operations. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isHeld } from "../../base/fs/lock.ts";
import { processIn } from "../../base/process/cwd.ts";
import type { Workspace } from "../../git/workspace.ts";
import { isAlive } from "../../recording/orphaned-turns.ts";
import { loadSession, marked } from "../../recording/session/store.ts";
import { workerLock } from "../../recording/start-worker.ts";

export type GitOperation = "rebase" | "merge" | "cherry-pick" | "revert" | "bisect";

const OPERATIONS: readonly [file: string, operation: GitOperation][] = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
];
const WORKER_WAIT_MS = 5_000;

/** Unfinished git operations. */
export function operationsIn({ kind, gitDir }: Workspace): GitOperation[] {
  if (kind !== "repository") return [];
  return [...new Set(OPERATIONS.flatMap(([file, operation]) => (existsSync(join(gitDir, file)) ? [operation] : [])))];
}

/** Sessions whose agents have not reported an end. */
export function openSessions(workspace: Workspace): { kind: "agent-in-turn" | "agent-open"; agent: string }[] {
  return [...new Set([...marked(workspace, "active"), ...marked(workspace, "open")])].flatMap((key) => {
    const state = loadSession(workspace, key);
    if (!state || !isAlive(state)) return [];
    return [{ kind: state.openTurn ? "agent-in-turn" : "agent-open", agent: state.agent }];
  });
}

/** True if an agent is in the middle of a turn. */
export function isInTurn(workspace: Workspace): boolean {
  return marked(workspace, "active").some((key) => {
    const state = loadSession(workspace, key);
    return state?.openTurn && isAlive(state);
  });
}

/** The id of a process working in the directory. Waits for our own worker, which ends soon. */
export async function processAt(workspace: Workspace): Promise<number | undefined> {
  const deadline = performance.now() + WORKER_WAIT_MS;
  while (isHeld(workerLock(workspace)) && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return processIn(workspace.root);
}
