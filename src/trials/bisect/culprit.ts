/** Attributes the change between two adjacent states: to a turn, its subagent, or an edit outside of any turn. */

import type { Step } from "../../model/step.ts";
import { turnKey } from "../../model/turn.ts";
import type { Point } from "./points.ts";

export interface Culprit {
  by: "turn" | "subagent" | "outside";
  /** A step of the turn or subagent; null if no turn was running. */
  step: Step | null;
}

/** `before` are all states up to the last passing one; `bad` is the next state. */
export function culpritOf(before: readonly Point[], bad: Point): Culprit {
  const [first] = bad.steps;
  if (first?.kind === "task" && first.subagent && first.subagent.when !== "start")
    return { by: "subagent", step: first };
  if (first && (first.kind === "turn-end" || first.kind === "tool" || first.kind === "task"))
    return { by: "turn", step: first };
  const open = openTurn(before.flatMap(({ steps }) => steps));
  return open ? { by: "turn", step: open } : { by: "outside", step: null };
}

/** The newest step of a turn that had not ended by then. */
function openTurn(steps: readonly Step[]): Step | null {
  const ended = new Set<string>();
  for (const step of steps.toReversed()) {
    const turn = turnKey(step);
    if (step.kind === "turn-end") ended.add(turn);
    const within = step.kind === "turn-start" || step.kind === "tool" || step.kind === "task";
    if (within && !ended.has(turn)) return isCurrent(steps, step) ? step : null;
  }
  return null;
}

/** A turn followed by another turn of the same session is over, even if no end was reported. */
function isCurrent(steps: readonly Step[], { session, turn }: Step): boolean {
  return !steps.some((step) => step.session === session && step.turn > turn);
}
