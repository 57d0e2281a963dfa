/** Attributes the change between two adjacent states: to a turn, its subagent, or an edit outside of any turn. */

import { subagentsBehind, turnsBehind } from "../../attribution/owners.ts";
import { type RunningTurn, type TurnWindow, turnWindows } from "../../attribution/turn-windows.ts";
import { sessionRefKey } from "../../model/session.ts";
import type { Step } from "../../model/step.ts";
import type { Point } from "./points.ts";

export interface Culprit {
  by: "turn" | "subagent" | "outside";
  /** A step of the turn or subagent; null if no turn was running. */
  step: Step | null;
}

/** `bad` is the position of the first failing state among all points; `paths` are the files that changed there. */
export function findCulprit(
  points: readonly Point[],
  bad: number,
  paths: readonly string[],
  running: readonly RunningTurn[],
): Culprit {
  const steps = points.flatMap((point) => point.steps);
  const at = points.slice(0, bad).flatMap((point) => point.steps).length - 1;
  const recorded = points[bad]?.steps[0];
  const windows = turnWindows(steps, running);
  const [turn] = byRecorder(behind(windows, at, paths), recorded);
  if (!turn) return { by: "outside", step: null };
  const [subagent] = byRecorder(subagentsBehind(windows, at, sessionRefKey(turn.turn), paths), recorded);
  const own = subagent ?? turn;
  return { by: own.subagent === null ? "turn" : "subagent", step: isOf(own, recorded) ? recorded : own.last };
}

/** The turns that own one of the files, and first those that own most of them. */
function behind(windows: readonly TurnWindow[], at: number, paths: readonly string[]): TurnWindow[] {
  const owned = new Map<TurnWindow, number>();
  for (const path of paths) {
    for (const turn of turnsBehind(windows, at, path)) owned.set(turn, (owned.get(turn) ?? 0) + 1);
  }
  return [...owned].sort(([, a], [, b]) => b - a).map(([turn]) => turn);
}

/** Puts the turn or subagent first whose step recorded the state. */
function byRecorder(windows: readonly TurnWindow[], step: Step | undefined): TurnWindow[] {
  return [...windows].sort((a, b) => Number(isOf(b, step)) - Number(isOf(a, step)));
}

function isOf({ turn, subagent }: TurnWindow, step: Step | undefined): step is Step {
  if (step?.session !== turn.session || step.agent !== turn.agent || step.kind === "turn-start") return false;
  return subagent === null ? step.turn === turn.turn : step.subagent?.id === subagent;
}
