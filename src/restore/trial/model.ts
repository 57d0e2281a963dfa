/** A trial: one command, run in a throwaway copy of one state. docs/formats/trials.md specifies what is kept of it. */
import type { Snapshot } from "../../git/snapshot.ts";
import type { Step } from "../../steps/model.ts";
import type { Place } from "../model.ts";

/** What is tried, whatever the state: it decides whether two results can be compared. */
export interface Experiment {
  /** A program and its arguments, started as they are: no shell reads them. */
  command: readonly string[];
  /** Where in the tree it is started, from the root; "." is the root. */
  directory: string;
  /** Paths of the user's work tree, most of them ignored, that the copy gets a link to. */
  link: readonly string[];
  /** The same as copies. */
  copy: readonly string[];
  timeoutMs: number | null;
}

/** As `git bisect run` reads an exit status: 0 passes, 125 can't be told, everything else fails. */
export type Verdict = "pass" | "fail" | "skip";

export interface Outcome {
  verdict: Verdict;
  /** The exit status; null where there is none. */
  code: number | null;
  /** Why there is none. */
  why: "signal" | "timeout" | "no-directory" | "no-program" | null;
  milliseconds: number;
}

/** What a throwaway copy is made from. */
export interface TrialState {
  work: string;
  raw: string | null;
  index: string;
  head: string | null;
}

export function trialStateOf(target: Place): TrialState {
  if (target.kind === "commit") return { work: target.tree, raw: null, index: target.tree, head: target.commit };
  return stateOfStep(target.step);
}

export function stateOfStep({ snapshot, head }: Step): TrialState {
  return { work: snapshot.work, raw: snapshot.raw, index: snapshot.index, head };
}

export function stateOfSnapshot({ work, raw, index, head }: Snapshot): TrialState {
  return { work, raw, index, head };
}

/** Whether both lay out the same files. */
export function sameFiles(a: TrialState, b: TrialState): boolean {
  return a.work === b.work && a.raw === b.raw;
}
