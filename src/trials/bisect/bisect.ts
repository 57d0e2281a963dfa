/** Runs a bisection: finds the two ends, searches between them, and names the turn that broke the command. */
import { loadConfig } from "../../config/load.ts";
import type { TreeDifference } from "../../git/objects/tree-diff.ts";
import type { Workspace } from "../../git/workspace.ts";
import { runningTurns } from "../../recording/claims.ts";
import { captureOptions } from "../../recording/dispatcher.ts";
import type { StateTarget } from "../../restore/types.ts";
import { currentSnapshot, diffTrees } from "../../steps/diff.ts";
import type { Experiment } from "../../steps/results/types.ts";
import { TrialError } from "../problems.ts";
import { type TrialOptions, Trials, type Tried } from "../trial/trials.ts";
import { type Culprit, findCulprit } from "./culprit.ts";
import { momentOf, type Point, pointsBetween } from "./points.ts";
import { type Search, search } from "./search.ts";

export interface BisectOptions extends Omit<TrialOptions, "by"> {
  good: StateTarget | null;
  bad: StateTarget | null;
  /** Reports the number of states to search. */
  begun(states: number): void;
  /** Reports the result of one state. */
  report(point: Point, tried: Tried): void;
}

export interface Break {
  good: Point;
  bad: Point;
  /** States between `good` and `bad` without a verdict: the break is at one of them, or at `bad`. */
  inconclusive: Point[];
  culprit: Culprit;
  files: TreeDifference[];
}

export type Bisected = { kind: "found"; found: Break } | Exclude<Search, { kind: "found" }>;

export async function bisect(workspace: Workspace, experiment: Experiment, options: BisectOptions): Promise<Bisected> {
  const present = await currentSnapshot(workspace, captureOptions(loadConfig(workspace)));
  const points = await pointsBetween(workspace, options.good, options.bad, present);
  if (points.length < 2) throw tooFew(options);
  options.begun(points.length);
  using trials = new Trials(workspace, experiment, { ...options, by: "bisect" });
  const reported = new Set<number>();
  const outcome = await search(points.length - 1, options.good ? 0 : null, async (at) => {
    const point = points[at];
    if (!point) throw new Error("There is no such state.");
    const tried = await trials.run(point.state, momentOf(point)?.id ?? null);
    if (!reported.has(at)) options.report(point, tried);
    reported.add(at);
    return tried.verdict;
  });
  if (outcome.kind !== "found") return outcome;
  const [good, bad] = [points[outcome.good], points[outcome.bad]];
  if (!good || !bad) throw new Error("There is no such state.");
  const inconclusive = points.slice(outcome.good + 1, outcome.bad);
  const files = await diffTrees(workspace, good.state.work, bad.state.work);
  const paths = files.map(({ path }) => path);
  const culprit = findCulprit(points, outcome.bad, paths, await runningTurns(workspace));
  return { kind: "found", found: { good, bad, inconclusive, culprit, files } };
}

function tooFew({ good, bad }: BisectOptions): TrialError {
  return new TrialError("not-found", { kind: "nothing-to-bisect", hasEnds: good !== null && bad !== null });
}

/** Validates a path to bring along, relative to the work tree's root, before anything is created. */
export function checkedPath(given: string): string {
  const path = given.replace(/^\.\//, "").replace(/\/$/, "");
  const parts = path.split("/");
  if (path !== "" && !path.startsWith("/") && parts.every((part) => part !== "" && part !== "." && part !== ".."))
    if (parts[0] !== ".git") return path;
  throw new TrialError("usage", { kind: "path-not-below-root", path: given });
}
