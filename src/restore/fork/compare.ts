/** Compares two attempts: what each changed since their common base, and what it cost. */

import { loadConfig } from "../../config/load.ts";
import { gitIn } from "../../git/git.ts";
import { readingEnvironment } from "../../git/private/store.ts";
import { findWorkspace, type Workspace } from "../../git/workspace.ts";
import type { FileChanges } from "../../model/changes.ts";
import { changedPaths } from "../../model/changes.ts";
import type { Step } from "../../model/step.ts";
import { sumOfTokens, type Tokens } from "../../model/tokens.ts";
import { captureOptions } from "../../recording/dispatcher.ts";
import { changesBetween, currentSnapshot, diffTrees } from "../../steps/diff.ts";
import type { ForkRecord } from "../../steps/forks.ts";
import { stepsIn } from "../../steps/log.ts";
import { type Cost, estimatedCost, type Use } from "../../transcripts/prices.ts";
import { missingForkError, workspaceOf } from "./find.ts";
import { branchTip } from "./worktree.ts";

export interface Attempt {
  /** The tree of the attempt's current files. */
  tree: string;
  files: FileChanges;
  lines: { added: number; deleted: number };
  turns: number;
  /** Null if no turn reported any. */
  tokens: Tokens | null;
  /** Null if a model's price is unknown. */
  cost: Cost | null;
  /** Total time from each prompt to the end of its turn. */
  seconds: number;
}

export interface Comparison {
  record: ForkRecord;
  here: Attempt;
  there: Attempt;
  /** Files changed by both, with different results. */
  both: string[];
  /** Files changed by both, with the same result. */
  same: string[];
}

export async function compareFork(workspace: Workspace, record: ForkRecord): Promise<Comparison> {
  const origin = originOf(workspace, record);
  const here = await attempt(origin, record, await treeNow(origin), origin.worktree);
  const there = await attempt(workspace, record, await forkTree(workspace, record), record.worktree);
  const [ours, theirs] = [new Set(changedPaths(here.files)), changedPaths(there.files)];
  const differ = new Set((await diffTrees(workspace, here.tree, there.tree)).map(({ path }) => path));
  const shared = theirs.filter((path) => ours.has(path));
  return {
    record,
    here,
    there,
    both: shared.filter((path) => differ.has(path)).sort(),
    same: shared.filter((path) => !differ.has(path)).sort(),
  };
}

/** The work tree the fork was created from, which may not be the current one. */
function originOf(workspace: Workspace, record: ForkRecord): Workspace {
  const origin = findWorkspace(record.from.root);
  return origin?.commonDir === workspace.commonDir && origin.root === record.from.root ? origin : workspace;
}

async function forkTree(workspace: Workspace, record: ForkRecord): Promise<string> {
  const fork = workspaceOf(workspace, record);
  return fork ? treeNow(fork) : branchTree(workspace, record);
}

/** The tree of a fork that is only a branch. */
export async function branchTree(workspace: Workspace, record: ForkRecord): Promise<string> {
  const tip = record.kind === "branch" && record.branch !== null ? await branchTip(workspace, record.branch) : null;
  if (tip === null) throw missingForkError(workspace, record);
  return gitIn(workspace).text(["rev-parse", `${tip}^{tree}`]);
}

async function treeNow(workspace: Workspace): Promise<string> {
  return (await currentSnapshot(workspace, captureOptions(loadConfig(workspace)))).work;
}

async function attempt(
  workspace: Workspace,
  record: ForkRecord,
  tree: string,
  worktree: string | null,
): Promise<Attempt> {
  const files = changesBetween(await diffTrees(workspace, record.base.work, tree));
  const steps = worktree === null ? [] : stepsSince(workspace, record, worktree);
  const ends = steps.filter(({ kind }) => kind === "turn-end");
  const counted = ends.flatMap(({ tokens }) => tokens ?? []);
  return {
    tree,
    files,
    lines: await linesBetween(workspace, record.base.work, tree),
    turns: ends.length,
    tokens: counted.length === 0 ? null : sumOfTokens(counted),
    cost: counted.length === 0 ? null : estimatedCost(ends.flatMap(useOf)),
    seconds: Math.round(ends.reduce((sum, end) => sum + durationOf(end, steps), 0)),
  };
}

function useOf({ agent, model, tokens, time, usd }: Step): Use[] {
  return tokens ? [{ agent, model, tokens, time, usd }] : [];
}

/** Steps after the common base, newest first. */
function stepsSince(workspace: Workspace, record: ForkRecord, worktree: string): Step[] {
  const base = record.from.step === null ? { since: record.time } : { after: record.from.step };
  const steps = stepsIn(workspace).list({ worktree, ...base });
  // A fork dropped earlier may have had the same name.
  return worktree === record.worktree ? steps.filter(({ time }) => time >= record.time) : steps;
}

function durationOf(end: Step, steps: readonly Step[]): number {
  const start = steps.find(
    (step) =>
      step.kind === "turn-start" && step.turn === end.turn && step.session === end.session && step.agent === end.agent,
  );
  return start ? Math.max(0, Date.parse(end.time) - Date.parse(start.time)) / 1000 : 0;
}

async function linesBetween(workspace: Workspace, before: string, after: string): Promise<Attempt["lines"]> {
  const options = ["--numstat", "--no-renames", "--no-ext-diff", "--no-textconv"];
  const output = await gitIn(workspace).run(["diff", ...options, before, after], {
    env: readingEnvironment(workspace),
  });
  const lines = { added: 0, deleted: 0 };
  for (const match of output.toString("latin1").matchAll(/^(\d+)\t(\d+)\t/gm)) {
    lines.added += Number(match[1]);
    lines.deleted += Number(match[2]);
  }
  return lines;
}
