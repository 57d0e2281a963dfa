/** Runs one command on many states: uses known results first, then one throwaway copy for all remaining runs. */

import { faultPoint } from "../../base/fault-point.ts";
import type { Workspace } from "../../git/workspace.ts";
import { Results, type TrialResult } from "../../steps/results/results.ts";
import type { Experiment, Outcome, TrialState } from "../../steps/results/types.ts";
import { TrialError } from "../problems.ts";
import { runCommand } from "./command.ts";
import { removeAbandonedTrials } from "./record.ts";
import { ThrowawayTree } from "./tree.ts";

export interface TrialOptions {
  output: "ignore" | number;
  stop: AbortSignal;
  by: TrialResult["by"];
  /** Ignore known results. */
  fresh: boolean;
}

export interface Tried extends Outcome {
  /** True if the result was already known and nothing was run. */
  known: boolean;
}

export class Trials implements Disposable {
  readonly #workspace: Workspace;
  readonly #experiment: Experiment;
  readonly #options: TrialOptions;
  readonly #results: Results;
  readonly #now = new Map<string, Tried>();
  #tree: ThrowawayTree | undefined;

  constructor(workspace: Workspace, experiment: Experiment, options: TrialOptions) {
    this.#workspace = workspace;
    this.#experiment = experiment;
    this.#options = options;
    this.#results = new Results(workspace);
  }

  async run(state: TrialState, step: string | null): Promise<Tried> {
    const name = `${state.work} ${state.raw ?? ""}`;
    const before = this.#now.get(name) ?? this.#known(state);
    if (before) return before;
    const outcome = await this.#try(state, step);
    this.#results.add(this.#experiment, state, outcome, this.#options.by);
    this.#now.set(name, { ...outcome, known: true });
    faultPoint("trial:kept");
    return { ...outcome, known: false };
  }

  [Symbol.dispose](): void {
    this.#tree?.remove();
    this.#tree = undefined;
  }

  #known(state: TrialState): Tried | undefined {
    if (this.#options.fresh) return undefined;
    const result = this.#results.known(this.#experiment, state);
    if (!result) return undefined;
    const { verdict, code, ms, timeout } = result;
    return { verdict, code, why: timeout === null ? null : "timeout", milliseconds: ms, known: true };
  }

  async #try(state: TrialState, step: string | null): Promise<Outcome> {
    const { stop, output } = this.#options;
    try {
      stop.throwIfAborted();
      if (!this.#tree) {
        removeAbandonedTrials(this.#workspace);
        this.#tree = await ThrowawayTree.make(this.#workspace, this.#experiment);
      }
      const tree = this.#tree;
      await tree.layOut(state);
      const outcome = await runCommand(this.#experiment, tree.path, {
        output,
        stop,
        step,
        started: (child) => {
          tree.holds(child);
          faultPoint("trial:started");
        },
      });
      faultPoint("trial:ran");
      return outcome;
    } catch (error) {
      if (!stop.aborted) throw error;
      throw new TrialError("interrupted", { kind: "trial-stopped" });
    }
  }
}
