/** What became of turns: undone, left behind by a rewind, forked from; and what changed while nobody's turn it was. */
import type { Workspace } from "../git/workspace.ts";
import { type ForkRecord, listForks } from "../steps/forks.ts";
import type { Step } from "../steps/model.ts";
import { isOfTurn, turnKeyOf, undosHere, wayHere } from "./timeline.ts";
import { nameKey } from "./turns.ts";

export type Fate = "undone" | "taken back";

export interface Fates {
  of(step: Step): Fate | null;
  /** Forks that were made from one of these steps. */
  forks(steps: readonly Step[]): ForkRecord[];
  /** Whether files had been changed by hand, or by something not recorded, when this turn began. */
  changedBefore(step: Step): boolean;
}

/** For `steps`, newest first, looking no further back than the oldest of them. */
export function fatesOf(workspace: Workspace, steps: readonly Step[]): Fates {
  const present = new Set([...wayHere(workspace, steps.at(-1)?.id)].map(({ id }) => id));
  const undone = new Set<string>();
  for (const { target } of undosHere(workspace))
    if ("turns" in target) for (const turn of target.turns) undone.add(nameKey(turn));
  const forks = Map.groupBy(listForks(workspace), ({ from }) => from.step);
  const touched = changedOutside(steps);
  return {
    of: (step) => {
      if (step.worktree !== workspace.worktree || !isOfTurn(step)) return null;
      if (!present.has(step.id)) return "taken back";
      return isUndone(step, undone) ? "undone" : null;
    },
    forks: (some) => some.flatMap(({ id }) => forks.get(id) ?? []),
    changedBefore: ({ id }) => touched.has(id),
  };
}

/** With its whole turn, or as a subagent alone. */
function isUndone({ agent, session, turn, subagent, kind }: Step, undone: ReadonlySet<string>): boolean {
  if (agent === null || session === null) return false;
  const name = { agent, session, turn };
  if (undone.has(nameKey({ ...name, subagent: null }))) return true;
  return kind === "task" && subagent !== null && undone.has(nameKey({ ...name, subagent: subagent.id }));
}

/** Starts of turns at which the files were others than at the moment before, when no turn was open. */
function changedOutside(steps: readonly Step[]): Set<string> {
  const found = new Set<string>();
  const open = new Set<string>();
  let before: Step | undefined;
  for (const step of steps.toReversed()) {
    const settled = before && before.kind !== "safety" && before.worktree === step.worktree && open.size === 0;
    if (step.kind === "turn-start") {
      if (settled && before?.snapshot.work !== step.snapshot.work) found.add(step.id);
      open.add(turnKeyOf(step));
    } else if (step.kind === "turn-end") open.delete(turnKeyOf(step));
    before = step;
  }
  return found;
}
