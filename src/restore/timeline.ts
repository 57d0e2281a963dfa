/**
 * The turns that led to the present, newest first. What a rewind took back is no longer on the way here: from its
 * safety step the way goes on at the step that was gone to.
 */
import type { Workspace } from "../git/workspace.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import type { Step } from "../steps/model.ts";
import { type RestoreRecord, standingRestores } from "./records.ts";

/** Where so many turns back leads: to before that turn began. */
export function turnsBack(workspace: Workspace, count: number): { step: Step } | { available: number } {
  const turns: string[] = [];
  let before: Step | undefined;
  for (const step of wayHere(workspace)) {
    const turn = isOfTurn(step) ? turnKeyOf(step) : undefined;
    if (turn !== undefined && !turns.includes(turn)) turns.push(turn);
    const wanted = turns[count - 1];
    if (wanted === undefined) continue;
    if (turn === wanted) {
      if (step.kind === "turn-start") return { step };
      before = undefined;
    } else before ??= step;
  }
  // Without a step at its start, the newest one before all of the turn's.
  if (before) return { step: before };
  return { available: Math.min(turns.length, count - 1) };
}

/** Steps of this work tree that led to the present, newest first, safety steps left out. */
export function* wayHere(workspace: Workspace): Generator<Step> {
  for (const passed of everythingPassed(workspace)) if ("id" in passed) yield passed;
}

/** Undos that the present still has: not taken back, and not left behind by a rewind. Newest first. */
export function undosHere(workspace: Workspace): RestoreRecord[] {
  if (!standingRestores(workspace).some(({ kind }) => kind === "undo")) return [];
  return [...everythingPassed(workspace)].flatMap((passed) => ("undo" in passed ? [passed.undo] : []));
}

function* everythingPassed(workspace: Workspace): Generator<Step | { undo: RestoreRecord }> {
  const restores = new Map(standingRestores(workspace).map((record) => [record.safetyStep, record]));
  let until: string | undefined;
  for (const step of stepsNewestFirst(workspace)) {
    if (until !== undefined) {
      if (step.id !== until) continue;
      until = undefined;
      // A rewind to a turn's start took that turn back as well; what led to a safety step lies right before it.
      if (step.kind === "turn-start" || step.kind === "safety") continue;
    }
    if (step.worktree !== workspace.worktree) continue;
    if (step.kind === "safety") {
      const restore = restores.get(step.id);
      if (restore?.kind === "undo") yield { undo: restore };
      until = destination(restore);
      continue;
    }
    yield step;
  }
}

function destination(record: RestoreRecord | undefined): string | undefined {
  if (!record || record.scope === "chat" || record.scope === "paths") return undefined;
  return "step" in record.target ? record.target.step : undefined;
}

export function isOfTurn({ kind }: Step): boolean {
  return kind === "turn-start" || kind === "turn-end" || kind === "task" || kind === "tool";
}

/** The same for all steps of one turn. */
export function turnKeyOf({ agent, session, turn }: Pick<Step, "agent" | "session" | "turn">): string {
  return `${agent}\0${session}\0${turn}`;
}
