/**
 * The states between which a break is looked for, oldest first: every recorded moment on the way from one to the other,
 * whichever session and agent it belongs to. Moments with the same files are one state.
 */
import { UserError } from "../../base/errors.ts";
import { gitLocation } from "../../git/location.ts";
import { gitText } from "../../git/run.ts";
import type { Snapshot } from "../../git/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import { listSteps } from "../../steps/list.ts";
import type { Step } from "../../steps/model.ts";
import type { CommitTarget, Place } from "../model.ts";
import { wayHere } from "../timeline.ts";
import { sameFiles, stateOfSnapshot, stateOfStep, type TrialState, trialStateOf } from "../trial/model.ts";

export interface Point {
  state: TrialState;
  /** The moments at which the files were so, oldest first; none for a commit or the present alone. */
  steps: Step[];
  commit: string | null;
  isNow: boolean;
}

/** The moment by which a person knows a state: where a turn ended, rather than where the next one began. */
export function momentOf({ steps }: Point): Step | undefined {
  return steps.find(({ kind }) => kind === "turn-end") ?? steps.at(-1);
}

/** `bad` null is the present; `good` null leaves the beginning open. */
export async function pointsBetween(
  workspace: Workspace,
  good: Place | null,
  bad: Place | null,
  present: Snapshot,
): Promise<Point[]> {
  let steps = stepsAround(workspace, [good, bad]);
  if (good) steps = steps.slice(await firstAfter(workspace, steps, good));
  if (bad) steps = steps.slice(0, await lastBefore(workspace, steps, bad));
  const points: Point[] = [];
  if (good?.kind === "commit") push(points, pointOf(good));
  for (const step of steps) push(points, { state: stateOfStep(step), steps: [step], commit: null, isNow: false });
  if (bad?.kind === "commit") push(points, pointOf(bad));
  if (!bad) push(points, { state: stateOfSnapshot(present), steps: [], commit: null, isNow: true });
  return points;
}

/** The way to the present; where a moment was named that a rewind has taken back, everything in the order it happened. */
function stepsAround(workspace: Workspace, named: readonly (Place | null)[]): Step[] {
  const way = [...wayHere(workspace)].reverse();
  const onTheWay = new Set(way.map(({ id }) => id));
  if (named.every((target) => target?.kind !== "step" || onTheWay.has(target.step.id))) return way;
  const ids = new Set(named.flatMap((target) => (target?.kind === "step" ? [target.step.id] : [])));
  const all = listSteps(workspace, { all: true }).reverse();
  return all.filter((step) => ids.has(step.id) || (step.kind !== "safety" && step.worktree === workspace.worktree));
}

async function firstAfter(workspace: Workspace, steps: readonly Step[], good: Place): Promise<number> {
  if (good.kind === "step") return positionOf(steps, good.step);
  const time = await timeOf(workspace, good.commit);
  const at = steps.findIndex((step) => Date.parse(step.time) > time);
  return at === -1 ? steps.length : at;
}

async function lastBefore(workspace: Workspace, steps: readonly Step[], bad: Place): Promise<number> {
  if (bad.kind === "step") return positionOf(steps, bad.step) + 1;
  const time = await timeOf(workspace, bad.commit);
  return steps.findLastIndex((step) => Date.parse(step.time) <= time) + 1;
}

function positionOf(steps: readonly Step[], { id }: Step): number {
  const at = steps.findIndex((step) => step.id === id);
  if (at !== -1) return at;
  throw new UserError(
    "usage",
    `${id} does not lie between the two ends.`,
    "--good must be older than --bad; `backtrail log` shows the order.",
  );
}

async function timeOf(workspace: Workspace, commit: string): Promise<number> {
  const { args, cwd } = gitLocation(workspace);
  return Number(await gitText([...args, "show", "--no-patch", "--format=%ct", commit], { cwd })) * 1000;
}

function pointOf(target: CommitTarget): Point {
  return { state: trialStateOf(target), steps: [], commit: target.commit, isNow: false };
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
