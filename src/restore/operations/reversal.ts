/** Computes how reverting a restore affects turns: which return, and which came since. */
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { isTurnStep, turnKey } from "../../model/turn.ts";
import type { RestoreRecord } from "../apply/restore-log.ts";
import { activeSteps, stepsBefore } from "../targets/history.ts";
import { type RestoreSubject, subjectOf } from "./describe.ts";

export interface Reversal {
  record: RestoreRecord;
  subject: RestoreSubject;
  /** Turns that return, newest first, each as its end step. */
  bringsBack: Step[];
  /** Turns since the restore. */
  since: Step[];
  /** True if the turns since stay in the files; otherwise the files return to the state before the restore. */
  keepsSince: boolean;
}

export function reversalOf(workspace: Workspace, record: RestoreRecord, keepsSince: boolean): Reversal {
  const before = turnsAlong(stepsBefore(workspace, record.safetyStep));
  const here = turnsAlong(activeSteps(workspace));
  const since = [...here].flatMap(([key, step]) => (before.has(key) ? [] : [step]));
  const { target } = record;
  const subject = subjectOf(workspace, record);
  if (!("turns" in target)) {
    const bringsBack = [...before].flatMap(([key, step]) => (here.has(key) ? [] : [step]));
    return { record, subject, bringsBack, since, keepsSince };
  }
  const undone = new Set(target.turns.map((turn) => turnKey(turn)));
  const bringsBack = [...before].flatMap(([key, step]) => (undone.has(key) ? [step] : []));
  return { record, subject, bringsBack, since, keepsSince };
}

/** Each turn's end step, or its newest step; newest turn first. */
function turnsAlong(steps: Iterable<Step>): Map<string, Step> {
  const turns = new Map<string, Step>();
  for (const step of steps) {
    if (!isTurnStep(step)) continue;
    const key = turnKey(step);
    if (!turns.has(key) || step.kind === "turn-end") turns.set(key, step);
  }
  return turns;
}
