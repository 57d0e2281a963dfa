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
