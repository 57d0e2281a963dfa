/** The check of a work tree: a command of the user's that tells, turn by turn, whether what is there works. */
import type { Config } from "../../config/load.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../steps/model.ts";
import { broughtPath } from "../bisect/bisect.ts";
import { wayHere } from "../timeline.ts";
import { type Experiment, stateOfStep } from "../trial/model.ts";
import { Results } from "../trial/results.ts";
import type { Trials, Tried } from "../trial/trials.ts";

/** How far back to look for a state that works, when the newest ones don't. */
const MOST_STEPS = 10;

/** null where none is set up. */
export function experimentFrom({ checks }: Pick<Config, "checks">): Experiment | null {
  const { command, link, copy, timeout } = checks;
  if (command.length === 0) return null;
  return {
    command,
    directory: ".",
    link: link.map(broughtPath),
    copy: copy.map(broughtPath),
    timeoutMs: timeout * 1000,
  };
}

/** The newest turn's end that was never checked; older ones count as long as no newer one is known to pass. */
export function nextToCheck(workspace: Workspace, experiment: Experiment): Step | undefined {
  const results = new Results(workspace);
  let seen = 0;
  for (const step of turnEnds(workspace)) {
    if (seen++ >= MOST_STEPS) return undefined;
    const result = results.known(experiment, stateOfStep(step));
    if (!result) return step;
    if (result.verdict === "pass") return undefined;
  }
  return undefined;
}

export function newestTurnEnd(workspace: Workspace): Step | undefined {
  return turnEnds(workspace).next().value ?? undefined;
}

export async function checkStep(trials: Trials, step: Step): Promise<Tried> {
  return trials.run(stateOfStep(step), step.id);
}

function* turnEnds(workspace: Workspace): Generator<Step, undefined> {
  for (const step of wayHere(workspace)) if (step.kind === "turn-end") yield step;
}
