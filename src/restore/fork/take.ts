/**
 * Merges a fork's work into this work tree: base is the common state, ours this work tree, theirs the fork. Everything
 * else is a normal restore: safety step, journal, and `redo` reverts it.
 */

import { pathMatcher } from "../../base/fs/glob.ts";
import { loadConfig } from "../../config/load.ts";
import type { Workspace } from "../../git/workspace.ts";
import { captureOptions } from "../../recording/dispatcher.ts";
import { saveManually } from "../../recording/save.ts";
import { currentSnapshot, diffTrees } from "../../steps/diff.ts";
import type { ForkRecord } from "../../steps/forks.ts";
import { isRunning } from "../changes/history.ts";
import { type PlannedTurn, passedTurns, turnsToPlan } from "../changes/turns.ts";
import type { TreeState } from "../revert/revert.ts";
import { applyRestore, planRestore } from "../rewind.ts";
import { historyHere } from "../targets/history.ts";
import type { Receipt, RestorePlan } from "../types.ts";
import { branchTree } from "./compare.ts";
import { workspaceOf } from "./find.ts";
import { ForkError } from "./problems.ts";

export interface TakeOptions {
  /** Write conflict markers into the files instead of refusing. */
  markers?: boolean;
  /** Patterns that limit the files. */
  paths?: readonly string[];
}

export async function planTake(
  workspace: Workspace,
  record: ForkRecord,
  options: TakeOptions = {},
): Promise<RestorePlan> {
  const fork = workspaceOf(workspace, record);
  if (fork?.root === workspace.root) {
    throw new ForkError("usage", { kind: "fork-is-here", fork: record.name, action: "take" });
  }
  return planFrom(workspace, record, await stateOf(workspace, fork, record), options);
}

/** Saves the fork's state first: a redo must find it even if the fork is deleted. */
export async function applyTake(
  workspace: Workspace,
  record: ForkRecord,
  options: TakeOptions = {},
  agreed?: RestorePlan,
): Promise<Receipt> {
  const fork = workspaceOf(workspace, record);
  const state = fork ? (await saveManually(fork, null)).step.snapshot : await stateOf(workspace, fork, record);
  return applyRestore(workspace, await planFrom(workspace, record, state, options), agreed);
}

/** All turns in the fork since its creation. A fork that is only a branch has none. */
function turnsOf(fork: Workspace | undefined): PlannedTurn[] {
  if (!fork) return [];
  const history = [...historyHere(fork)].reverse();
  return turnsToPlan(passedTurns(history, (turn) => isRunning(fork, turn)));
}

async function stateOf(workspace: Workspace, fork: Workspace | undefined, record: ForkRecord): Promise<TreeState> {
  if (!fork) return { work: await branchTree(workspace, record), raw: null };
  return currentSnapshot(fork, captureOptions(loadConfig(fork)));
}

async function planFrom(
  workspace: Workspace,
  record: ForkRecord,
  { work, raw }: TreeState,
  options: TakeOptions,
): Promise<RestorePlan> {
  const { base, name } = record;
  const differences = [
    ...(await diffTrees(workspace, base.work, work)),
    ...(await diffTrees(workspace, base.raw, raw)),
  ];
  const isWanted = options.paths ? pathMatcher(options.paths) : () => true;
  const paths = [...new Set(differences.map(({ path }) => path))].filter(isWanted);
  const change = { before: { work, raw }, after: base, paths, name, label: `fork-${name}` };
  return planRestore(workspace, {
    kind: "take",
    target: { kind: "turns", turns: [], fork: name, brought: turnsOf(workspaceOf(workspace, record)) },
    options: { codeOnly: true },
    takesBack: null,
    merge: { changes: [change], shared: [], markers: options.markers === true, later: null },
    chat: null,
  });
}
