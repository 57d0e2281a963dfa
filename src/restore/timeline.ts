/**
 * The turns that led to the present, newest first. What a rewind took back is no longer on the way here: from its
 * safety step the way goes on at the step that was gone to.
 */
import type { Workspace } from "../git/workspace.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import type { Step } from "../steps/model.ts";
import { type RestoreRecord, standingRewinds } from "./records.ts";

/** Where so many turns back leads: to before that turn began. */
export function turnsBack(workspace: Workspace, count: number): { step: Step } | { available: number } {
  const turns: string[] = [];
  let before: Step | undefined;
  for (const step of wayHere(workspace)) {
    const turn = turnOf(step);
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
  const rewinds = new Map(standingRewinds(workspace).map((record) => [record.safetyStep, record]));
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
      until = destination(rewinds.get(step.id));
      continue;
    }
    yield step;
  }
}

function destination(record: RestoreRecord | undefined): string | undefined {
  if (!record || record.scope === "chat" || record.scope === "paths") return undefined;
  return "step" in record.target ? record.target.step : undefined;
}

/** What a step belongs to, if it is part of a turn. */
function turnOf(step: Step): string | undefined {
  const ofTurn = step.kind === "turn-start" || step.kind === "turn-end" || step.kind === "task" || step.kind === "tool";
  return ofTurn ? `${step.agent}\0${step.session}\0${step.turn}` : undefined;
}
