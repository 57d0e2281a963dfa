/** Derives the turns between a target and the current files from the history. Reads no files and does not run git. */
import { sessionRefKey } from "../../model/session.ts";
import type { Step } from "../../model/step.ts";
import { isTurnStep, turnKey } from "../../model/turn.ts";
import type { HistoryItem } from "../targets/history.ts";
import { type FoundTurn, nameKey, type TurnName } from "../targets/turns.ts";

/** A turn that a plan reverts or merges in. */
export interface PlannedTurn extends TurnName {
  /** The step that represents the turn: its end, or its newest step. */
  id: string;
  prompt: string | null;
  /** Only part of the turn is after the target. */
  partial: boolean;
  /** The turn has not ended. */
  running: boolean;
}

/** A turn and its range in the history. */
export interface PassedTurn extends PlannedTurn {
  /** The step its changes are counted from. */
  first: Step | null;
  last: Step;
  /** Positions in the history; `to` is the history's length while the turn runs. */
  from: number;
  to: number;
  /** An undo has reverted the turn. */
  undone: boolean;
}

/** Oldest first. `history` is oldest first; changes are counted from its first item. */
export function passedTurns(
  history: readonly HistoryItem[],
  isRunning: (turn: Pick<Step, "agent" | "session" | "turn">) => boolean,
): PassedTurn[] {
  const undone = undoneIn(history);
  const turns: PassedTurn[] = [];
  for (const steps of stepsByTurn(history).values()) {
    const [start, end] = [steps[0], steps.at(-1)];
    if (!start || !end) continue;
    const { agent, session, turn } = end.step;
    if (agent === null || session === null) continue;
    const running = end.step.kind !== "turn-end" && isRunning(end.step);
    const hasStart = start.step.kind === "turn-start";
    const before = hasStart ? -1 : stepBefore(history, start);
    // Without a start step, the turn owns everything since the session's last step, or since the target.
    const from = hasStart ? start.at : Math.max(0, before);
    const to = running ? history.length : end.at;
    // The target is the end of this turn, so no part of it follows.
    if (to <= from) continue;
    turns.push({
      agent,
      session,
      turn,
      subagent: null,
      id: end.step.id,
      prompt: steps.map(({ step }) => step.prompt).find((prompt) => prompt !== null) ?? null,
      partial: !hasStart && before === -1,
      running,
      first: hasStart ? start.step : stepAt(history, from),
      last: end.step,
      from,
      to,
      undone: undone.has(nameKey({ agent, session, turn, subagent: null })),
    });
  }
  return turns;
}

/** Positions `i` with no turn running between items `i` and `i + 1`; the current files follow the last item. */
export function gapsBetween(history: readonly HistoryItem[], turns: readonly PassedTurn[]): number[] {
  return [...history.keys()].filter((i) => !turns.some(({ from, to }) => from <= i && i < to));
}

/** The turns still in the files, newest first. */
export function turnsToPlan(turns: readonly PassedTurn[]): PlannedTurn[] {
  return turns
    .filter(({ undone }) => !undone)
    .sort((a, b) => b.to - a.to || b.from - a.from)
    .map(({ agent, session, turn, subagent, id, prompt, partial, running }) => {
      return { agent, session, turn, subagent, id, prompt, partial, running };
    });
}

export function plannedTurn({ agent, session, turn, subagent, prompt, last }: FoundTurn): PlannedTurn {
  return { agent, session, turn, subagent, id: last.id, prompt, partial: false, running: false };
}

/** Groups turns by session, in the given order. */
export function groupTurns(turns: readonly PlannedTurn[]): PlannedTurn[][] {
  const groups = Map.groupBy(turns, sessionRefKey);
  return [...groups.values()];
}

function stepsByTurn(history: readonly HistoryItem[]): Map<string, { step: Step; at: number }[]> {
  const found = new Map<string, { step: Step; at: number }[]>();
  for (const [at, item] of history.entries()) {
    if (item.kind !== "step" || !isTurnStep(item.step)) continue;
    const key = turnKey(item.step);
    const steps = found.get(key);
    if (steps) steps.push({ step: item.step, at });
    else found.set(key, [{ step: item.step, at }]);
  }
  return found;
}

/** Position of the session's previous step; -1 if the history has none. */
function stepBefore(history: readonly HistoryItem[], { step, at }: { step: Step; at: number }): number {
  return history
    .slice(0, at)
    .findLastIndex(
      (item) => item.kind === "step" && item.step.session === step.session && item.step.agent === step.agent,
    );
}

/** Turns that were undone within the history and had ended before it, newest undo first. */
export function undoneBefore(history: readonly HistoryItem[], turns: readonly PassedTurn[]): TurnName[] {
  const passed = new Set(turns.map(({ agent, session, turn }) => nameKey({ agent, session, turn, subagent: null })));
  return [...undoneIn(history).values()]
    .filter(({ agent, session, turn }) => !passed.has(nameKey({ agent, session, turn, subagent: null })))
    .reverse();
}

/** By key. */
function undoneIn(history: readonly HistoryItem[]): Map<string, TurnName> {
  const undone = new Map<string, TurnName>();
  for (const item of history) {
    if (item.kind !== "restore" || !item.stands || item.record.kind !== "undo") continue;
    const { target } = item.record;
    if ("turns" in target) for (const turn of target.turns) undone.set(nameKey(turn), turn);
  }
  return undone;
}

function stepAt(history: readonly HistoryItem[], at: number): Step | null {
  const item = history[at];
  if (!item) return null;
  return item.kind === "restore" ? item.safety : item.step;
}
