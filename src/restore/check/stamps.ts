/** Which steps passed the check that was last run here, and the newest of them. */
import { UserError } from "../../base/errors.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../steps/model.ts";
import { wayHere } from "../timeline.ts";
import { sameFiles, stateOfStep, type Verdict } from "../trial/model.ts";
import { Results } from "../trial/results.ts";

export interface Stamps {
  /** The check's command; null where none was ever run. */
  command: readonly string[] | null;
  of(step: Step): Verdict | undefined;
}

/** By the files of a step: a step that no check has looked at is as good as one that is just the same. */
export function stampsOf(workspace: Workspace): Stamps {
  const results = new Results(workspace);
  const last = results.lastChecked();
  return {
    command: last?.command ?? null,
    of: ({ snapshot }) => last && results.find(last.key, snapshot)?.verdict,
  };
}

/** Where a turn ended, rather than where the next one began with the same files. */
export function lastGreen(workspace: Workspace): Step | undefined {
  const stamps = stampsOf(workspace);
  if (stamps.command === null) return undefined;
  let green: Step | undefined;
  for (const step of wayHere(workspace)) {
    if (green && !sameFiles(stateOfStep(green), stateOfStep(step))) return green;
    if (!green && stamps.of(step) !== "pass") continue;
    if (step.kind === "turn-end") return step;
    green ??= step;
  }
  return green;
}

export function requireGreen(workspace: Workspace): Step {
  const step = lastGreen(workspace);
  if (step) return step;
  const checked = stampsOf(workspace).command !== null;
  throw new UserError(
    "not-found",
    checked ? "No step that led here has passed the check." : "No step has been checked here yet.",
    checked
      ? "`backtrail bisect -- <command>` looks for one that passes."
      : "`backtrail check -- npm test` checks each turn in the background; `backtrail check --now` does it at once.",
  );
}
