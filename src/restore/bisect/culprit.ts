/** Who changed the files between two neighbouring states: a turn, a subagent of it, or somebody outside of any turn. */
import type { Step } from "../../steps/model.ts";
import type { Point } from "./points.ts";

export interface Culprit {
  by: "turn" | "subagent" | "outside";
  /** A step of the turn, or of the subagent; null where nobody's turn it was. */
  step: Step | null;
}

/** `before` are all states up to the one that still passes; `bad` is the one that follows. */
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
    const turn = `${step.agent}\0${step.session}\0${step.turn}`;
    if (step.kind === "turn-end") ended.add(turn);
    const within = step.kind === "turn-start" || step.kind === "tool" || step.kind === "task";
    if (within && !ended.has(turn)) return isCurrent(steps, step) ? step : null;
  }
  return null;
}

/** A turn that another one of the same session follows is over, whether or not anybody said so. */
function isCurrent(steps: readonly Step[], { session, turn }: Step): boolean {
  return !steps.some((step) => step.session === session && step.turn > turn);
}
