/**
 * Presents worktrees of runs as forks, so that they can be compared, taken and dropped. Derives each record from git's
 * mark on demand; writes it to disk only during a drop.
 */
import { isRunning } from "../../base/process/processes.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import { workspaceIn } from "../../git/worktrees/owned.ts";
import { type RunWorktree, runWorktrees } from "../../git/worktrees/runs.ts";
import { type ForkRecord, removeForkRecord, writeForkRecord } from "../../steps/forks.ts";

/** Oldest first. Omits marks of older versions, which have no id. */
export async function runForks(workspace: Workspace): Promise<ForkRecord[]> {
  const runs = runWorktrees(workspace).filter(({ id, owned }) => id !== null && owned.directory !== null);
  if (runs.length === 0) return [];
  // A missing commit still produces a line, so that the others keep their positions.
  const names = runs.map(({ commit }) => `${commit}^{tree}`).join("\n");
  const asked = await gitIn(workspace).try(["cat-file", "--batch-check=%(objectname)"], { input: `${names}\n` });
  const trees = asked.stdout.toString("latin1").split("\n");
  return runs.flatMap((run, i) => {
    const tree = trees[i] ?? "";
    return /^[0-9a-f]{40,64}$/.test(tree) ? [recordOf(workspace, run, tree)] : [];
  });
}

/** True if the run's process still exists. */
export function isUnderWay(workspace: Workspace, { id, run }: ForkRecord): boolean {
  const worktree = run && runWorktrees(workspace).find((each) => each.id === id);
  return worktree ? isRunning(worktree.pid, worktree.start ?? undefined) : false;
}

/** Restores a record to its state before a drop. A run's record is not kept on disk. */
export function putBackRecord(workspace: Workspace, record: ForkRecord): void {
  if (record.run) removeForkRecord(workspace, record.id);
  else writeForkRecord(workspace, { ...record, state: "ready" });
}

/** The part of a hidden ref's name that identifies the commits' owner. */
export function refId({ id, run }: Pick<ForkRecord, "id" | "run">): string {
  return run ? `run-${id}` : id;
}

function recordOf({ root, worktree }: Workspace, run: RunWorktree, tree: string): ForkRecord {
  const { id, name, branch, commit, time, directory, session, owned } = run;
  return {
    v: 1,
    id: id ?? "",
    name: branch.replace(/^run\//, ""),
    kind: "worktree",
    state: "ready",
    time,
    from: { step: null, worktree, root, prompt: null },
    base: { work: tree, raw: null },
    commit,
    branch,
    directory,
    worktree: workspaceIn(owned)?.worktree ?? name,
    chat: null,
    making: null,
    marked: true,
    run: { session },
  };
}
