/** Backtrail as a script sees it: commands with `--json`, in the shapes that are fixed for scripts. */
import type { ShownStep as RecordedStep } from "../support/recording.ts";
import type { Rig } from "./rig.ts";
import type { Finished } from "./sandbox.ts";
import type { Usage } from "./server/protocol.ts";

export interface LoggedStep extends RecordedStep {
  parent: string | null;
}

export interface ShownStep extends LoggedStep {
  tokens: Usage | null;
  response: string | null;
  interrupted: boolean;
  model: string | null;
}

export interface Restored {
  plan: {
    write: string[];
    delete: string[];
    chmod: string[];
    notUndone: { what: string; why: string; command?: string }[];
    conflicts: { path: string; why: string }[];
  };
  receipt: {
    safetyStep: string;
    chat: { agent: string; session: string; transcript: string; command: string } | null;
  } | null;
}

const PATIENCE_MS = 30_000;
const POLL_MS = 200;

export class Backtrail {
  readonly #rig: Rig;

  constructor(rig: Rig) {
    rig.installBacktrail();
    this.#rig = rig;
  }

  run(...args: string[]): Promise<Finished> {
    return this.#rig.run(["backtrail", ...args]);
  }

  /** A command that must succeed, and what it printed. */
  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.#rig.output(["backtrail", ...args, "--json"])) as T;
  }

  /** Oldest first, as a story is told. */
  async steps(): Promise<LoggedStep[]> {
    const { steps } = await this.json<{ steps: LoggedStep[] }>("log", "--limit", "0");
    return steps.reverse();
  }

  async show(id: string): Promise<ShownStep> {
    return (await this.json<{ step: ShownStep }>("show", id)).step;
  }

  /** The step of that kind which belongs to a prompt. */
  async step(kind: string, prompt: string): Promise<LoggedStep> {
    const steps = await this.steps();
    const found = steps.filter((step) => step.kind === kind && step.prompt === prompt);
    if (found.length === 1 && found[0]) return found[0];
    throw new Error(`${found.length} steps are the ${kind} of "${prompt}":\n${summary(steps)}`);
  }

  /** For what a hook does while the agent is still open: asks again until the step is there. */
  async waitForStep(wanted: (step: LoggedStep) => boolean): Promise<LoggedStep> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const steps = await this.steps();
      const found = steps.find(wanted);
      if (found) return found;
      if (Date.now() > deadline) throw new Error(`the step was never taken:\n${summary(steps)}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

function summary(steps: LoggedStep[]): string {
  return steps.map((step) => `${step.id} ${step.kind} turn ${step.turn} ${JSON.stringify(step.prompt)}`).join("\n");
}
