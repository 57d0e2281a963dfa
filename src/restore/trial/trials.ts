/** One command on many states: known results first, then one throwaway copy for all that have to be run. */
import { UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault.ts";
import type { Workspace } from "../../git/workspace.ts";
import { runCommand } from "./command.ts";
import type { Experiment, Outcome, TrialState } from "./model.ts";
import { removeAbandonedTrials } from "./record.ts";
import { Results, type TrialResult } from "./results.ts";
import { ThrowawayTree } from "./tree.ts";

export interface TrialOptions {
  output: "ignore" | number;
  stop: AbortSignal;
  by: TrialResult["by"];
  /** Run everything, whatever is known. */
  fresh: boolean;
}

export interface Tried extends Outcome {
  /** Known from before: nothing was run. */
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
      throw new UserError("interrupted", "Stopped. Nothing was changed.");
    }
  }
}
