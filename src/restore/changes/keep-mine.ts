/**
 * Plans a rewind that keeps the user's own changes: reverts only what turns changed since the target, with the same
 * merge as undo. Changes outside of any turn stay.
 */

import { pathMatcher } from "../../base/fs/glob.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import type { TreeStore } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import { RestoreError } from "../problems.ts";
import { ownChanges } from "../revert/own-changes.ts";
import type { FoundTurn } from "../targets/turns.ts";
import type { Merge, Target } from "../types.ts";
import { historySince, isRunning } from "./history.ts";
import { type PassedTurn, passedTurns } from "./turns.ts";

export async function mergeKeepingMine(
  workspace: Workspace,
  trees: TreeStore,
  target: Target,
  { markers, paths }: { markers: boolean; paths: readonly string[] | undefined },
): Promise<Merge> {
  if (target.kind !== "step" || target.step.worktree !== workspace.worktree) throw notInHistory(target);
  const since = passedTurns(await historySince(workspace, target), (turn) => isRunning(workspace, turn));
  const passed = since.filter(({ undone }) => !undone);
  refuseRunning(passed);
  const turns = await Promise.all(passed.map((turn) => foundTurn(trees, turn)));
  const nothing = { changes: [], shared: [], later: [] };
  const { changes, shared, later } = turns.length === 0 ? nothing : await ownChanges(workspace, trees, turns);
  if (!paths || paths.length === 0) return { changes, shared, markers, later };
  const isChosen = pathMatcher(paths);
  return {
    changes: changes.map((change) => ({ ...change, paths: change.paths.filter(isChosen) })),
    shared: shared.filter(({ path }) => isChosen(path)),
    markers,
    later,
  };
}

async function foundTurn(trees: TreeStore, passed: PassedTurn): Promise<FoundTurn> {
  const { agent, session, turn, prompt, first, last } = passed;
  const files = last.kind === "turn-end" ? changedPaths(last.files) : await changedFiles(trees, passed);
  return { agent, session, turn, subagent: null, prompt, first, last, files, tasks: [], back: null };
}

/** For a turn whose end a rewind reverted: no step records what its beginning changed. */
async function changedFiles(trees: TreeStore, { first, last }: PassedTurn): Promise<string[]> {
  if (!first) return [];
  return (await compareTrees(trees, first.snapshot.work, last.snapshot.work)).map(({ path }) => path);
}

function refuseRunning(turns: readonly PassedTurn[]): void {
  const running = turns.find((turn) => turn.running);
  if (!running) return;
  throw new RestoreError("refused", { kind: "turn-not-ended", agent: running.agent, turn: running.turn });
}

function notInHistory({ kind }: Target): RestoreError {
  const target = kind === "commit" ? "commit" : "other-work-tree";
  return new RestoreError("usage", { kind: "own-changes-unknown", target });
}
