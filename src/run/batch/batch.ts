/** Performs many runs, a limited number at a time. A run that cannot start counts as failed; the others continue. */
import { messageOf } from "../../base/errors.ts";
import { HeadlessRun, type Outcome, type RunRequest } from "../headless.ts";
import type { EndStatus } from "../log/records.ts";
import { recordedRun } from "../unhooked.ts";

export interface BatchRun {
  /** Counts from 1, in the order of the prompts. */
  index: number;
  request: RunRequest;
}

export interface Ended {
  index: number;
  prompt: string;
  status: EndStatus;
  /** Null if the run could not start. */
  outcome: Outcome | null;
  /** The directory of the run. */
  cwd: string;
  /** Why the run could not start. */
  error: string | null;
  ms: number;
}

export interface BatchListener {
  started(index: number): void;
  identified(index: number, sessionId: string): void;
  ended(ended: Ended): void;
}

export class Batch {
  readonly #running = new Set<HeadlessRun>();
  #signal: NodeJS.Signals | null = null;

  /** Stops the active runs and starts no more. */
  stop(signal: NodeJS.Signals): void {
    this.#signal ??= signal;
    for (const run of this.#running) run.stop(signal);
  }

  /** Calls `prepare` for each run just before it starts, one run at a time. */
  async perform(
    runs: readonly BatchRun[],
    atOnce: number,
    prepare: (request: RunRequest) => Promise<RunRequest>,
    listener: BatchListener,
  ): Promise<Ended[]> {
    const waiting = [...runs];
    const ended: Ended[] = [];
    let preparing: Promise<unknown> = Promise.resolve();
    const inTurn = (request: RunRequest): Promise<RunRequest> => {
      const next = preparing.then(() => prepare(request));
      preparing = next.catch(() => {});
      return next;
    };
    const work = async () => {
      for (let run = waiting.shift(); run && this.#signal === null; run = waiting.shift()) {
        const done = await this.#perform(run, inTurn, listener);
        ended.push(done);
        listener.ended(done);
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, runs.length) }, work));
    return ended.sort((a, b) => a.index - b.index);
  }

  async #perform(
    { index, request }: BatchRun,
    prepare: (request: RunRequest) => Promise<RunRequest>,
    listener: BatchListener,
  ): Promise<Ended> {
    const began = performance.now();
    const { prompt } = request;
    const end = (status: EndStatus, outcome: Outcome | null, cwd: string, error: string | null): Ended => {
      return { index, prompt, status, outcome, cwd, error, ms: Math.round(performance.now() - began) };
    };
    listener.started(index);
    let { cwd } = request;
    try {
      const ready = await prepare(request);
      cwd = ready.cwd;
      if (this.#signal !== null) return end("interrupted", null, cwd, null);
      const recorded = await recordedRun(ready);
      const run = HeadlessRun.start(recorded.request, {
        started() {},
        identified: (id) => listener.identified(index, id),
      });
      this.#running.add(run);
      if (this.#signal !== null) run.stop(this.#signal);
      const outcome = await run.finished;
      this.#running.delete(run);
      await recorded.ended(outcome);
      return end(outcome.status, outcome, cwd, null);
    } catch (error) {
      return end("failed", null, cwd, messageOf(error));
    }
  }
}
