/** Defines a turn: one prompt of the user and everything until the agent has answered it. Groups steps into turns. */
import { type SessionRef, sessionRefKey } from "./session.ts";
import type { Step, StepKind } from "./step.ts";

export interface TurnRef extends SessionRef {
  /** 1 for the first prompt of the session. */
  turn: number;
}

export interface Turn {
  /** The step that represents the turn: its end, or its newest step. */
  head: Step;
  /** All steps of the turn, newest first. */
  steps: Step[];
  prompt: string | null;
  /** The turn has not ended yet. */
  open: boolean;
}

/** The kinds of the steps that belong to a turn. `save`, session start and safety steps do not. */
export const TURN_KINDS: readonly StepKind[] = ["turn-start", "turn-end", "task", "tool"];

export function isTurnStep({ kind }: { kind: string }): boolean {
  return TURN_KINDS.some((one) => one === kind);
}

/** A key that all steps of a turn share. */
export function turnKey({
  agent,
  session,
  turn,
}: {
  agent: string | null;
  session: string | null;
  turn: number | null;
}): string {
  return `${sessionRefKey({ agent, session })}\0${turn}`;
}

/** The turn of a step; null if it belongs to none. */
export function turnOfStep(step: Step): TurnRef | null {
  const { agent, session, turn } = step;
  if (!isTurnStep(step) || agent === null || session === null || turn === 0) return null;
  return { agent, session, turn };
}

/** Groups steps (newest first) into turns, ordered by each turn's newest step. */
export function groupTurns(steps: readonly Step[]): Turn[] {
  const groups = new Map<string, Step[]>();
  for (const step of steps) {
    const key = groupKey(step);
    const group = groups.get(key);
    if (group) group.push(step);
    else groups.set(key, [step]);
  }
  return [...groups.values()].map(toTurn);
}

/** How many more steps to read for the rest of a turn with no recorded start. */
const MAX_LOOKAHEAD = 200;

/** The newest turns, at most `limit`, reading only as many steps as needed. */
export function newestTurns(steps: Iterable<Step>, limit: number): { turns: Turn[]; read: Step[]; more: boolean } {
  const read: Step[] = [];
  const shown = new Set<string>();
  /** Turns that may have older steps. */
  const unfinished = new Set<string>();
  let more = false;
  let beyond = 0;
  for (const step of steps) {
    const key = groupKey(step);
    if (!shown.has(key) && shown.size >= limit) {
      more = true;
      if (unfinished.size === 0 || beyond++ >= MAX_LOOKAHEAD) break;
      continue;
    }
    read.push(step);
    shown.add(key);
    if (isTurnStep(step) && step.kind !== "turn-start") unfinished.add(key);
    else unfinished.delete(key);
  }
  return { turns: groupTurns(read), read, more };
}

/** The newest turns that `isWanted` accepts. `read` has every step, so that callers can compare neighbors. */
export function turnsWhere(
  steps: Iterable<Step>,
  limit: number,
  isWanted: (turn: Turn) => boolean,
): ReturnType<typeof newestTurns> {
  const read = [...steps];
  const turns = groupTurns(read).filter(isWanted);
  return { turns: turns.slice(0, limit), read, more: turns.length > limit };
}

/** The subagents of a turn, oldest first: each one's end step, or its start step if it has not ended. */
export function tasksOf(turn: Turn): Step[] {
  const tasks = new Map<string, Step>();
  for (const step of turn.steps) {
    if (step.kind !== "task" || !step.subagent) continue;
    const known = tasks.get(step.subagent.id);
    if (!known || (known.subagent?.when === "start" && step.subagent.when === "end")) tasks.set(step.subagent.id, step);
  }
  return [...tasks.values()].reverse();
}

function toTurn(steps: Step[]): Turn {
  const [newest] = steps;
  if (!newest) throw new Error("A turn has at least one step.");
  const end = steps.find((step) => step.kind === "turn-end");
  const withPrompt = [end, ...steps].find((step) => step?.prompt);
  return { head: end ?? newest, steps, prompt: withPrompt?.prompt ?? null, open: !end && isTurnStep(newest) };
}

function groupKey(step: Step): string {
  return isTurnStep(step) ? turnKey(step) : step.id;
}
