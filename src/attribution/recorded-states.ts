/** The recorded states of a work tree: who changed a file before each of them, and who was at work at a given time. */

import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../model/step.ts";
import { type TurnRef, turnKey, turnOfStep } from "../model/turn.ts";
import { stepsIn } from "../steps/log.ts";
import { turnsBehind } from "./owners.ts";
import { type TurnWindow, turnWindows } from "./turn-windows.ts";

export interface RecordedState {
  step: Step;
  /** Position among the states. */
  at: number;
}

/** Sorts after any ISO time. */
const LAST = "9999";
const MAX_STEPS = 10_000;

export class RecordedStates {
  /** Oldest first. */
  readonly all: readonly RecordedState[];
  readonly #windows: readonly TurnWindow[];
  readonly #begun = new Map<string, string>();
  readonly #workspace: Workspace;

  constructor(workspace: Workspace, worktree: string) {
    this.#workspace = workspace;
    const steps = stepsOf(workspace, worktree);
    this.all = steps.map((step, at) => ({ step, at }));
    this.#windows = turnWindows(steps);
    for (const step of steps) {
      const turn = step.kind === "turn-start" ? turnOfStep(step) : null;
      if (turn) this.#begun.set(turnKey(turn), step.time);
    }
  }

  /** The turn that changed the file right before a state. Among several, the one whose step recorded the change. */
  authorBefore({ step, at }: RecordedState, path: string): TurnRef | null {
    return this.#authorAt(at - 1, path, step);
  }

  /** The turn that changed the file after the last state at or before a time. */
  authorAfter(time: string, path: string): TurnRef | null {
    return this.#authorAt(this.#lastAt(time), path, null);
  }

  #authorAt(at: number, path: string, step: Step | null): TurnRef | null {
    const turns = turnsBehind(this.#windows, at, path).map(({ turn }) => turn);
    return turns.find(({ agent, session }) => agent === step?.agent && session === step.session) ?? turns[0] ?? null;
  }

  /** A step on the commit's parent precedes the commit, even if the commit's time says otherwise. */
  lastState(until: string | null, parent: string | null): string {
    if (until === null) return LAST;
    const onParent = parent ? this.all.filter(({ step }) => step.head === parent) : [];
    const isAfter = onParent.length > 0 && onParent.every(({ step }) => step.time > until);
    return isAfter ? (onParent.at(-1)?.step.time ?? until) : until;
  }

  /** True if the turn is known to have begun after the given time. */
  beganAfter(turn: TurnRef, time: string): boolean {
    return (this.#begun.get(turnKey(turn)) ?? "") > time;
  }

  headAt(until: string): string | null | undefined {
    return this.all[this.#lastAt(until)]?.step.head;
  }

  /** Returns the last recorded step, if a restore followed it. */
  safetyBefore(until: string): Step | null {
    const step = this.all[this.#lastAt(until)]?.step;
    return step?.kind === "safety" ? step : null;
  }

  /** Work trees that a restore may have taken files from: a fork is saved right before its work is taken. */
  takenAt(safety: Step): string[] {
    const newest = new Map<string, Step>();
    for (const step of stepsIn(this.#workspace).newestFirst()) {
      if (step.time <= safety.time && step.worktree !== safety.worktree && !newest.has(step.worktree))
        newest.set(step.worktree, step);
    }
    return [...newest].flatMap(([worktree, { kind, name }]) => (kind === "manual" && name === null ? [worktree] : []));
  }

  #lastAt(time: string): number {
    return this.all.findLastIndex(({ step }) => step.time <= time);
  }
}

/** Returns the steps of one work tree, oldest first. */
function stepsOf(workspace: Workspace, worktree: string): Step[] {
  const steps = stepsIn(workspace).list({ worktree, limit: MAX_STEPS });
  return steps.reverse().sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}
