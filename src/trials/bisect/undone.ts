/**
 * Computes recorded states without the turns that were undone later. The current files lack those turns, so an undone
 * turn can't be what breaks them.
 */

import { ObjectStore } from "../../git/objects/object-store.ts";
import { scratchPlace } from "../../git/private/store.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { isTurnStep } from "../../model/turn.ts";
import type { RestoreRecord } from "../../restore/apply/restore-log.ts";
import { type Change, revertChanges } from "../../restore/revert/revert.ts";
import { activeUndos } from "../../restore/targets/history.ts";
import type { TurnName } from "../../restore/targets/turns.ts";
import { stateOfStep, type TrialState } from "../../steps/results/types.ts";

export interface StepState {
  step: Step;
  state: TrialState;
}

/** An undo and the positions of the steps that contain its changes: from inside its turns until the undo. */
interface UndoneRange {
  changes: readonly Change[];
  /** Position of the first step inside an undone turn. */
  from: number;
  /** Position of the last undone turn's end. */
  end: number;
  /** Position of the last step before the undo. */
  to: number;
}

/** The states of `steps`, oldest first. Omits steps inside an undone turn. */
export async function statesWithoutUndone(workspace: Workspace, steps: readonly Step[]): Promise<StepState[]> {
  const recorded = steps.map((step) => ({ step, state: stateOfStep(step) }));
  const ranges = activeUndos(workspace).flatMap((record) => rangeOf(record, steps) ?? []);
  if (ranges.length === 0) return recorded;
  using objects = new ObjectStore(workspace, scratchPlace(workspace));
  const states: StepState[] = [];
  for (const [i, { step, state }] of recorded.entries()) {
    const undone = ranges.filter(({ from, to }) => i >= from && i <= to);
    if (undone.some(({ end }) => i < end)) continue;
    const changes = undone.flatMap((range) => range.changes);
    const without = changes.length > 0 ? await revertChanges(workspace, objects, state, changes, false) : null;
    // If later work conflicts with the undo, use the recorded state.
    const isClean = without !== null && without.conflicts.length === 0;
    states.push({ step, state: isClean ? { ...state, work: without.work, raw: without.raw } : state });
  }
  return states;
}

function rangeOf({ target, time }: RestoreRecord, steps: readonly Step[]): UndoneRange | null {
  if (!("turns" in target) || target.turns.length === 0) return null;
  const isUndone = (step: Step) => target.turns.some((turn) => isPartOf(step, turn));
  const from = steps.findIndex((step) => step.kind !== "turn-start" && isUndone(step));
  const end = steps.findLastIndex(isUndone);
  const to = steps.findLastIndex((step) => step.time <= time);
  return from === -1 || to < end ? null : { changes: target.changes, from, end, to };
}

function isPartOf(step: Step, { agent, session, turn, subagent }: TurnName): boolean {
  if (!isTurnStep(step) || step.agent !== agent || step.session !== session || step.turn !== turn) return false;
  return subagent === null || step.subagent?.id === subagent;
}
