/**
 * Bringing a fork's work here: a three-way merge with the state that both began with as base, this work tree as ours and
 * the fork's as theirs. From there it is a restore like any other: safety step, journal, and `redo` takes it back.
 */
import { UserError } from "../../base/errors.ts";
import { loadConfig } from "../../config/load.ts";
import type { Workspace } from "../../git/workspace.ts";
import { captureOptions } from "../../lifecycle/dispatcher.ts";
import { saveManually } from "../../lifecycle/save.ts";
import { currentSnapshot, diffTrees } from "../../steps/diff.ts";
import type { ForkRecord } from "../../steps/forks.ts";
import type { Receipt, RewindPlan } from "../model.ts";
import { applyRestore, planRestore } from "../rewind.ts";
import type { TreeState } from "../take-back.ts";
import { branchTree } from "./compare.ts";
import { workspaceOf } from "./find.ts";

export interface TakeOptions {
  /** Write conflicts into the files, between markers, instead of refusing. */
  markers?: boolean;
}

export async function planTake(
  workspace: Workspace,
  record: ForkRecord,
  options: TakeOptions = {},
): Promise<RewindPlan> {
  const fork = workspaceOf(workspace, record);
  if (fork?.root === workspace.root) {
    throw new UserError(
      "usage",
      `This is the fork ${record.name} itself.`,
      `Take it from where its work should go: backtrail -C <directory> fork take ${record.name}`,
    );
  }
  return planFrom(workspace, record, await stateOf(workspace, fork, record), options);
}

/** What the fork holds is saved there first: a redo must find it, whatever becomes of the fork. */
export async function applyTake(workspace: Workspace, record: ForkRecord, options: TakeOptions = {}): Promise<Receipt> {
  const fork = workspaceOf(workspace, record);
  const state = fork ? (await saveManually(fork, null)).step.snapshot : await stateOf(workspace, fork, record);
  return applyRestore(workspace, await planFrom(workspace, record, state, options));
}

async function stateOf(workspace: Workspace, fork: Workspace | undefined, record: ForkRecord): Promise<TreeState> {
  if (!fork) return { work: await branchTree(workspace, record), raw: null };
  return currentSnapshot(fork, captureOptions(loadConfig(fork.root)));
}

async function planFrom(
  workspace: Workspace,
  record: ForkRecord,
  { work, raw }: TreeState,
  options: TakeOptions,
): Promise<RewindPlan> {
  const { base, name } = record;
  const differences = [
    ...(await diffTrees(workspace, base.work, work)),
    ...(await diffTrees(workspace, base.raw, raw)),
  ];
  const paths = [...new Set(differences.map(({ path }) => path))];
  const change = { before: { work, raw }, after: base, paths, name, label: `fork-${name}` };
  return planRestore(workspace, {
    kind: "take",
    target: { kind: "turns", turns: [], fork: name },
    options: { codeOnly: true },
    takesBack: null,
    merge: { changes: [change], shared: [], markers: options.markers === true, later: null },
    chat: null,
  });
}
