/** Reports the status of turns: undone, abandoned by a rewind, forked; and changes made outside of any turn. */
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { isTurnStep, turnKey } from "../../model/turn.ts";
import { type ForkRecord, listForks } from "../../steps/forks.ts";
import { activeSteps, activeUndos } from "./history.ts";
import { nameKey } from "./turns.ts";

type TurnStatus = "undone" | "rewound";

export interface TurnStatuses {
  of(step: Step): TurnStatus | null;
  /** How many turns back the step's turn is: 1 for the newest. Null if the step is not in the current history. */
  turnsBack(step: Step): number | null;
  /** Forks created from one of these steps. */
  forks(steps: readonly Step[]): ForkRecord[];
  /** True if files were changed by hand, or by something unrecorded, before this turn began. */
  changedBefore(step: Step): boolean;
}

/** `steps` are newest first; reads no further back than the oldest. */
export function readTurnStatuses(workspace: Workspace, steps: readonly Step[]): TurnStatuses {
  const present = new Set<string>();
  const numbers = new Map<string, number>();
  for (const step of activeSteps(workspace, steps.at(-1)?.id)) {
    present.add(step.id);
    if (isTurnStep(step) && !numbers.has(turnKey(step))) numbers.set(turnKey(step), numbers.size + 1);
  }
  const undone = new Set<string>();
  for (const { target } of activeUndos(workspace))
    if ("turns" in target) for (const turn of target.turns) undone.add(nameKey(turn));
  const forks = Map.groupBy(listForks(workspace), ({ from }) => from.step);
  const touched = changedOutside(steps);
  return {
    of: (step) => {
      if (step.worktree !== workspace.worktree || !isTurnStep(step)) return null;
      if (!present.has(step.id)) return "rewound";
      return isUndone(step, undone) ? "undone" : null;
    },
    turnsBack: (step) => (isTurnStep(step) && present.has(step.id) ? (numbers.get(turnKey(step)) ?? null) : null),
    forks: (some) => some.flatMap(({ id }) => forks.get(id) ?? []),
    changedBefore: ({ id }) => touched.has(id),
  };
}

/** True if the step was undone with its whole turn or as a subagent alone. */
function isUndone({ agent, session, turn, subagent, kind }: Step, undone: ReadonlySet<string>): boolean {
  if (agent === null || session === null) return false;
  const name = { agent, session, turn };
  if (undone.has(nameKey({ ...name, subagent: null }))) return true;
  return kind === "task" && subagent !== null && undone.has(nameKey({ ...name, subagent: subagent.id }));
}

/** Turn starts at which the files differ from the previous step and no turn was open. */
function changedOutside(steps: readonly Step[]): Set<string> {
  const found = new Set<string>();
  const open = new Set<string>();
  let before: Step | undefined;
  for (const step of steps.toReversed()) {
    const settled = before && before.kind !== "safety" && before.worktree === step.worktree && open.size === 0;
    if (step.kind === "turn-start") {
      if (settled && before?.snapshot.work !== step.snapshot.work) found.add(step.id);
      open.add(turnKey(step));
    } else if (step.kind === "turn-end") open.delete(turnKey(step));
    before = step;
  }
  return found;
}
