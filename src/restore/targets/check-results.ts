/** Reports which steps passed the most recent check command, and the newest of them. */

import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { Results } from "../../steps/results/results.ts";
import { sameFiles, stateOfStep, type Verdict } from "../../steps/results/types.ts";
import { RestoreError } from "../problems.ts";
import { activeSteps } from "./history.ts";

export interface CheckResults {
  /** The check's command; null if none was ever run. */
  command: readonly string[] | null;
  of(step: Step): Verdict | undefined;
}

/** Looks results up by a step's files: an unchecked step shares the result of an identical one. */
export function readCheckResults(workspace: Workspace): CheckResults {
  const results = new Results(workspace);
  const last = results.lastChecked();
  return {
    command: last?.command ?? null,
    of: ({ snapshot }) => last && results.find(last.key, snapshot)?.verdict,
  };
}

/** Prefers the end of a turn to the start of the next turn with the same files. */
export function lastGreen(workspace: Workspace): Step | undefined {
  const stamps = readCheckResults(workspace);
  if (stamps.command === null) return undefined;
  let green: Step | undefined;
  for (const step of activeSteps(workspace)) {
    if (green && !sameFiles(stateOfStep(green), stateOfStep(step))) return green;
    if (!green && stamps.of(step) !== "pass") continue;
    if (step.kind === "turn-end") return step;
    green ??= step;
  }
  return green;
}

export function requireLastGreen(workspace: Workspace): Step {
  const step = lastGreen(workspace);
  if (step) return step;
  const checked = readCheckResults(workspace).command !== null;
  throw new RestoreError("not-found", { kind: "no-green-step", isChecked: checked });
}
