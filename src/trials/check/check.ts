/** The check of a work tree: a user's command that shows, turn by turn, whether the files work. */
import type { Config } from "../../config/load.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { activeSteps } from "../../restore/targets/history.ts";
import { Results } from "../../steps/results/results.ts";
import { type Experiment, stateOfStep } from "../../steps/results/types.ts";
import { checkedPath } from "../bisect/bisect.ts";
import type { Trials, Tried } from "../trial/trials.ts";

/** How far back to look for a passing state if the newest ones fail. */
const MAX_STEPS = 10;

/** Null if none is configured. */
export function experimentFrom({ checks }: Pick<Config, "checks">): Experiment | null {
  const { command, link, copy, timeout } = checks;
  if (command.length === 0) return null;
  return {
    command,
    directory: ".",
    link: link.map(checkedPath),
    copy: copy.map(checkedPath),
    timeoutMs: timeout * 1000,
  };
}

/** The newest unchecked end of a turn, unless a newer one is known to pass. */
export function nextToCheck(workspace: Workspace, experiment: Experiment): Step | undefined {
  const results = new Results(workspace);
  let seen = 0;
  for (const step of turnEnds(workspace)) {
    if (seen++ >= MAX_STEPS) return undefined;
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
  for (const step of activeSteps(workspace)) if (step.kind === "turn-end") yield step;
}
