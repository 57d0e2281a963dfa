/** Steps as people think of them: turns with their subagents and tools, and single moments between them. */
import type { Step } from "../../steps/model.ts";

export interface Turn {
  /** The step that stands for it: where the turn ended, or the newest there is. */
  head: Step;
  /** All of its steps, newest first. */
  steps: Step[];
  prompt: string | null;
  /** Not closed yet. */
  open: boolean;
}

/** In the order of each turn's newest step; `steps` are newest first. */
export function turnsOf(steps: readonly Step[]): Turn[] {
  const groups = new Map<string, Step[]>();
  for (const step of steps) {
    const key = groupOf(step);
    const group = groups.get(key);
    if (group) group.push(step);
    else groups.set(key, [step]);
  }
  return [...groups.values()].map(turnOf);
}

/** How far to look for the rest of a turn whose beginning was not recorded. */
const LOOKED_BEYOND = 200;

/** The newest turns, all or at most `limit` of them, reading no more steps than that takes. */
export function newestTurns(steps: Iterable<Step>, limit: number): { turns: Turn[]; read: Step[]; more: boolean } {
  const read: Step[] = [];
  const shown = new Set<string>();
  /** Turns of which there may be older steps. */
  const unfinished = new Set<string>();
  let more = false;
  let beyond = 0;
  for (const step of steps) {
    const key = groupOf(step);
    if (!shown.has(key) && shown.size >= limit) {
      more = true;
      if (unfinished.size === 0 || beyond++ >= LOOKED_BEYOND) break;
      continue;
    }
    read.push(step);
    shown.add(key);
    if (isOfTurn(step) && step.kind !== "turn-start") unfinished.add(key);
    else unfinished.delete(key);
  }
  return { turns: turnsOf(read), read, more };
}

/** The subagents of a turn, oldest first: where each ended, or began if it has not ended. */
export function tasksOf(turn: Turn): Step[] {
  const tasks = new Map<string, Step>();
  for (const step of turn.steps) {
    if (step.kind !== "task" || !step.subagent) continue;
    const known = tasks.get(step.subagent.id);
    if (!known || (known.subagent?.when === "start" && step.subagent.when === "end")) tasks.set(step.subagent.id, step);
  }
  return [...tasks.values()].reverse();
}

function turnOf(steps: Step[]): Turn {
  const [newest] = steps;
  if (!newest) throw new Error("A turn has at least one step.");
  const end = steps.find((step) => step.kind === "turn-end");
  const withPrompt = [end, ...steps].find((step) => step?.prompt);
  return { head: end ?? newest, steps, prompt: withPrompt?.prompt ?? null, open: !end && isOfTurn(newest) };
}

function groupOf(step: Step): string {
  return isOfTurn(step) ? `${step.agent}\0${step.session}\0${step.turn}` : step.id;
}

function isOfTurn(step: Step): boolean {
  return step.kind === "turn-start" || step.kind === "turn-end" || step.kind === "task" || step.kind === "tool";
}
