/**
 * Lists the states to search for a break, oldest first: every recorded step in the history between two points, of any
 * session and agent. Steps with the same files form one state.
 */

import { gitIn } from "../../git/git.ts";
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { activeSteps } from "../../restore/targets/history.ts";
import type { CommitTarget, StateTarget } from "../../restore/types.ts";
import { stepsIn } from "../../steps/log.ts";
import { sameFiles, stateOfSnapshot, stateOfStep, type TrialState } from "../../steps/results/types.ts";
import { TrialError } from "../problems.ts";
import { statesWithoutUndone } from "./undone.ts";

export interface Point {
  state: TrialState;
  /** The steps with these files, oldest first; empty for a commit or for the current files alone. */
  steps: Step[];
  commit: string | null;
  isNow: boolean;
}

/** The step that represents a state to the user: the end of a turn rather than the start of the next. */
export function momentOf({ steps }: Point): Step | undefined {
  return steps.find(({ kind }) => kind === "turn-end") ?? steps.at(-1);
}

/** `bad` null means the current files; `good` null leaves the start open. */
export async function pointsBetween(
  workspace: Workspace,
  good: StateTarget | null,
  bad: StateTarget | null,
  present: Snapshot,
): Promise<Point[]> {
  let steps = stepsAround(workspace, [good, bad]);
  if (good) steps = steps.slice(await firstAfter(workspace, steps, good));
  if (bad) steps = steps.slice(0, await lastBefore(workspace, steps, bad));
  const points: Point[] = [];
  if (good?.kind === "commit") push(points, pointOf(good));
  // If the end is in the past, turns that were undone later are still part of it.
  const states = bad
    ? steps.map((step) => ({ step, state: stateOfStep(step) }))
    : await statesWithoutUndone(workspace, steps);
  for (const { step, state } of states) push(points, { state, steps: [step], commit: null, isNow: false });
  if (bad?.kind === "commit") push(points, pointOf(bad));
  if (!bad) push(points, { state: stateOfSnapshot(present), steps: [], commit: null, isNow: true });
  return points;
}

/** The history of the current files; if a named step was abandoned by a rewind, all steps in recorded order. */
function stepsAround(workspace: Workspace, named: readonly (StateTarget | null)[]): Step[] {
  const way = [...activeSteps(workspace)].reverse();
  const onTheWay = new Set(way.map(({ id }) => id));
  if (named.every((target) => target?.kind !== "step" || onTheWay.has(target.step.id))) return way;
  const ids = new Set(named.flatMap((target) => (target?.kind === "step" ? [target.step.id] : [])));
  const all = stepsIn(workspace).list().reverse();
  return all.filter((step) => ids.has(step.id) || (step.kind !== "safety" && step.worktree === workspace.worktree));
}

async function firstAfter(workspace: Workspace, steps: readonly Step[], good: StateTarget): Promise<number> {
  if (good.kind === "step") return positionOf(steps, good.step);
  const time = await timeOf(workspace, good.commit);
  const at = steps.findIndex((step) => Date.parse(step.time) > time);
  return at === -1 ? steps.length : at;
}

async function lastBefore(workspace: Workspace, steps: readonly Step[], bad: StateTarget): Promise<number> {
  if (bad.kind === "step") return positionOf(steps, bad.step) + 1;
  const time = await timeOf(workspace, bad.commit);
  return steps.findLastIndex((step) => Date.parse(step.time) <= time) + 1;
}

function positionOf(steps: readonly Step[], { id }: Step): number {
  const at = steps.findIndex((step) => step.id === id);
  if (at !== -1) return at;
  throw new TrialError("usage", { kind: "not-between-ends", step: id });
}

async function timeOf(workspace: Workspace, commit: string): Promise<number> {
  return Number(await gitIn(workspace).text(["show", "--no-patch", "--format=%ct", commit])) * 1000;
}

function pointOf(target: CommitTarget): Point {
  return {
    state: { work: target.tree, raw: null, index: target.tree, head: target.commit },
    steps: [],
    commit: target.commit,
    isNow: false,
  };
}

function push(points: Point[], next: Point): void {
  const last = points.at(-1);
  if (!last || !sameFiles(last.state, next.state)) {
    points.push(next);
    return;
  }
  last.steps.push(...next.steps);
  last.isNow ||= next.isNow;
}
