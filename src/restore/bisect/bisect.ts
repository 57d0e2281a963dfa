/** Finds the turn that broke a command, without touching the user's work tree. */
import { UserError } from "../../base/errors.ts";
import { shownPath } from "../../base/text.ts";
import { loadConfig } from "../../config/load.ts";
import type { TreeDifference } from "../../git/tree-diff.ts";
import type { Workspace } from "../../git/workspace.ts";
import { captureOptions } from "../../lifecycle/dispatcher.ts";
import { currentSnapshot, diffTrees } from "../../steps/diff.ts";
import type { Place } from "../model.ts";
import type { Experiment } from "../trial/model.ts";
import { type TrialOptions, Trials, type Tried } from "../trial/trials.ts";
import { type Culprit, culpritOf } from "./culprit.ts";
import { momentOf, type Point, pointsBetween } from "./points.ts";
import { type Search, search } from "./search.ts";

export interface BisectOptions extends Omit<TrialOptions, "by"> {
  good: Place | null;
  bad: Place | null;
  /** How many states there are to choose from. */
  begun(states: number): void;
  /** A state has been looked at. */
  told(point: Point, tried: Tried): void;
}

export interface Break {
  good: Point;
  bad: Point;
  /** States between the two that can't be told: the break is at one of them, or at `bad`. */
  untold: Point[];
  culprit: Culprit;
  files: TreeDifference[];
}

export type Bisected = { kind: "found"; found: Break } | Exclude<Search, { kind: "found" }>;

export async function bisect(workspace: Workspace, experiment: Experiment, options: BisectOptions): Promise<Bisected> {
  const present = await currentSnapshot(workspace, captureOptions(loadConfig(workspace.root)));
  const points = await pointsBetween(workspace, options.good, options.bad, present);
  if (points.length < 2) throw tooFew(options);
  options.begun(points.length);
  using trials = new Trials(workspace, experiment, { ...options, by: "bisect" });
  const told = new Set<number>();
  const outcome = await search(points.length - 1, options.good ? 0 : null, async (at) => {
    const point = points[at];
    if (!point) throw new Error("There is no such state.");
    const tried = await trials.run(point.state, momentOf(point)?.id ?? null);
    if (!told.has(at)) options.told(point, tried);
    told.add(at);
    return tried.verdict;
  });
  if (outcome.kind !== "found") return outcome;
  const [good, bad] = [points[outcome.good], points[outcome.bad]];
  if (!good || !bad) throw new Error("There is no such state.");
  const untold = points.slice(outcome.good + 1, outcome.bad);
  const culprit = culpritOf(points.slice(0, outcome.good + 1), bad);
  const files = await diffTrees(workspace, good.state.work, bad.state.work);
  return { kind: "found", found: { good, bad, untold, culprit, files } };
}

function tooFew({ good, bad }: BisectOptions): UserError {
  const named = good !== null && bad !== null;
  return new UserError(
    "not-found",
    named ? "The files are the same at both ends." : "There is no earlier state with other files.",
    "`backtrail log` shows what is recorded.",
  );
}

/** Paths to bring along, from the root of the work tree, checked before anything is made. */
export function broughtPath(given: string): string {
  const path = given.replace(/^\.\//, "").replace(/\/$/, "");
  const parts = path.split("/");
  if (path !== "" && !path.startsWith("/") && parts.every((part) => part !== "" && part !== "." && part !== ".."))
    if (parts[0] !== ".git") return path;
  throw new UserError(
    "usage",
    `${shownPath(given)} is no path below the work tree's root.`,
    "Give it as it is seen from there, such as node_modules.",
  );
}
