/**
 * Walks the history of the current files, newest first. A rewind abandons turns: at its safety step, the history
 * continues with the rewind's target step.
 */
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { isTurnStep, turnKey } from "../../model/turn.ts";
import { stepsIn } from "../../steps/log.ts";
import { activeRestores, effectiveRestores, isMerged, type RestoreRecord, readRestores } from "../apply/restore-log.ts";

/** The turn `count` turns back; 1 is the newest. With a session, counts only its turns. */
export function turnAt(
  workspace: Workspace,
  count: number,
  session?: string,
): { steps: Step[]; before: Step | null } | { available: number } {
  const turns = new Set<string>();
  const steps: Step[] = [];
  let wanted: string | undefined;
  let before: Step | null = null;
  for (const step of activeSteps(workspace)) {
    const turn = isTurnStep(step) && (session === undefined || step.session === session) ? turnKey(step) : undefined;
    if (turn !== undefined && wanted === undefined && turns.add(turn).size === count) wanted = turn;
    if (wanted === undefined) continue;
    if (turn === wanted) {
      steps.push(step);
      before = null;
      if (step.kind === "turn-start") return { steps, before };
    } else before ??= step;
  }
  return wanted === undefined ? { available: turns.size } : { steps, before };
}

/** The state before the turn `count` turns back. With a session, counts only its turns. */
export function turnsBack(
  workspace: Workspace,
  count: number,
  session?: string,
): { step: Step } | { available: number } {
  const found = turnAt(workspace, count, session);
  if ("available" in found) return found;
  // If the turn has no start step, the newest step before the turn.
  const last = found.steps.at(-1);
  const step = last?.kind === "turn-start" ? last : found.before;
  return step ? { step } : { available: count - 1 };
}

/** How many turns back each turn in the history is, by key: 1 for the newest. */
export function turnNumbers(workspace: Workspace): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const step of activeSteps(workspace)) {
    const key = turnKey(step);
    if (isTurnStep(step) && !numbers.has(key)) numbers.set(key, numbers.size + 1);
  }
  return numbers;
}

/** Steps in the history of the current files, without safety steps, back to `oldest`. */
export function* activeSteps(workspace: Workspace, oldest?: string): Generator<Step> {
  for (const item of historyHere(workspace, ({ id }) => id === oldest)) if (item.kind === "step") yield item.step;
}

/** Steps in the history of a step, newest first. */
export function* stepsBefore(workspace: Workspace, step: string): Generator<Step> {
  for (const item of historyHere(workspace, () => false, step)) if (item.kind === "step") yield item.step;
}

/** Undos still in effect: neither reverted nor abandoned by a rewind. Newest first. */
export function activeUndos(workspace: Workspace): RestoreRecord[] {
  if (!activeRestores(workspace).some(({ kind }) => kind === "undo")) return [];
  return [...historyHere(workspace)].flatMap((item) =>
    item.kind === "restore" && item.stands && item.record.kind === "undo" ? [item.record] : [],
  );
}

/** A restore and its safety step. */
interface Restored {
  record: RestoreRecord;
  safety: Step;
}

/** One item of the history of the current files. */
export type HistoryItem =
  | { kind: "step"; step: Step }
  /** At `time` a restore put the files into the state of `step`. `by` is null if no restore led from there. */
  | { kind: "arrival"; step: Step; time: string; by: Restored | null }
  /** A restore that changed some files, directly after its safety step. */
  | (Restored & { kind: "restore"; stands: boolean });

/**
 * The history of the current files, or of the step `from`. Ends with the first item whose state is known at or before
 * the step that `isOldest` accepts.
 */
export function* historyHere(
  workspace: Workspace,
  isOldest: (step: Step) => boolean = () => false,
  from?: string,
): Generator<HistoryItem> {
  const records = readRestores(workspace);
  const restores = new Map(records.map((record) => [record.safetyStep, record]));
  const effective = new Set(effectiveRestores(records).map(({ id }) => id));
  let until = from;
  let restored: Restored | undefined;
  let isPast = false;
  for (const step of stepsIn(workspace).newestFirst()) {
    isPast ||= isOldest(step);
    if (until !== undefined ? step.id !== until : step.worktree !== workspace.worktree) continue;
    const isArrival = until !== undefined;
    const by = restored;
    until = undefined;
    restored = undefined;
    if (by) yield { kind: "arrival", step, time: by.safety.time, by };
    let isKnown = isArrival;
    // A rewind to a turn's start also reverts that turn; the history of a safety step continues directly before it.
    const isLeft = isArrival && (step.kind === "turn-start" || step.kind === "safety");
    if (!isLeft && step.worktree === workspace.worktree) {
      const record = step.kind === "safety" ? restores.get(step.id) : undefined;
      const stands = record !== undefined && record.kind !== "fork" && effective.has(record.id);
      until = record && stands ? destination(record, records) : undefined;
      if (record && until !== undefined) restored = { record, safety: step };
      else if (record) yield { kind: "restore", record, safety: step, stands: stands && record.kind !== "redo" };
      else if (step.kind !== "safety") yield { kind: "step", step };
      isKnown ||= record !== undefined || step.kind !== "safety";
    }
    if (!isPast || until !== undefined) continue;
    if (!isKnown) yield { kind: "arrival", step, time: step.time, by: null };
    return;
  }
}

/**
 * The step at which the history continues before a restore that abandoned turns. Undefined for a restore that reverted
 * another by merging: it kept the turns since.
 */
function destination(record: RestoreRecord, records: readonly RestoreRecord[]): string | undefined {
  if (record.scope === "chat" || record.scope === "paths") return undefined;
  if (record.kind === "redo" && isMerged(record, records)) return undefined;
  return "step" in record.target ? record.target.step : undefined;
}
