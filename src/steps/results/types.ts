/** Types of a trial: one command, run in a temporary copy of one state. docs/formats/trials.md specifies its record. */
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Step } from "../../model/step.ts";

/** What a trial runs, independent of the state. Only results of the same experiment are comparable. */
export interface Experiment {
  /** A program and its arguments, started without a shell. */
  command: readonly string[];
  /** The working directory, relative to the root; "." is the root. */
  directory: string;
  /** Paths of the user's work tree, usually ignored ones, to link into the copy. */
  link: readonly string[];
  /** Paths to copy instead of linking. */
  copy: readonly string[];
  timeoutMs: number | null;
}

/** Follows `git bisect run`: exit status 0 passes, 125 skips, everything else fails. */
export type Verdict = "pass" | "fail" | "skip";

export interface Outcome {
  verdict: Verdict;
  /** The exit status; null if there is none. */
  code: number | null;
  /** Why there is no exit status. */
  why: "signal" | "timeout" | "no-directory" | "no-program" | null;
  milliseconds: number;
}

/** The state that a temporary copy is made from. */
export interface TrialState {
  work: string;
  raw: string | null;
  index: string;
  head: string | null;
}

export function stateOfStep({ snapshot, head }: Step): TrialState {
  return { work: snapshot.work, raw: snapshot.raw, index: snapshot.index, head };
}

export function stateOfSnapshot({ work, raw, index, head }: Snapshot): TrialState {
  return { work, raw, index, head };
}

/** Whether both states contain the same files. */
export function sameFiles(a: TrialState, b: TrialState): boolean {
  return a.work === b.work && a.raw === b.raw;
}
