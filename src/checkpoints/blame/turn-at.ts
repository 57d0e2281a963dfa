/** Determines which turns were running at each recorded moment of a work tree. */

import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import { sessionRefKey } from "../../model/session.ts";
import type { Step } from "../../model/step.ts";
import { type TurnRef, turnKey, turnOfStep } from "../../model/turn.ts";
import { stepsNewestFirst } from "../../steps/index-file.ts";

export interface Moment {
  step: Step;
  /** The turns that were running when this state was reached. */
  during: TurnRef[];
}

/** Sorts after any ISO time. */
const LAST = "9999";
const MAX_STEPS = 10_000;

export class Turns {
  /** Oldest first. */
  readonly moments: readonly Moment[];
  readonly #running: { after: string; turns: TurnRef[] }[] = [];
  readonly #files = new Map<string, Set<string>>();
  readonly #begun = new Map<string, string>();
  readonly #workspace: Workspace;

  constructor(workspace: Workspace, worktree: string) {
    this.#workspace = workspace;
    this.moments = this.#follow(stepsOf(workspace, worktree));
  }

  /** Attributes a change to the running turn; among several, to one that reports having changed the file. */
  choose(during: readonly TurnRef[], path: string, step: Step | null): TurnRef | null {
    const [only, ...others] = during;
    if (!only || others.length === 0) return only ?? null;
    const claiming = during.filter((author) => this.#files.get(turnKey(author))?.has(path));
    const own = (author: TurnRef) => author.session === step?.session && author.agent === step.agent;
    return claiming.find(own) ?? claiming[0] ?? during.find(own) ?? only;
  }

  /** A step on the commit's parent precedes the commit, even if the commit's time says otherwise. */
  lastMoment(until: string | null, parent: string | null): string {
    if (until === null) return LAST;
    const onParent = parent ? this.moments.filter(({ step }) => step.head === parent) : [];
    const isAfter = onParent.length > 0 && onParent.every(({ step }) => step.time > until);
    return isAfter ? (onParent.at(-1)?.step.time ?? until) : until;
  }

  runningAt(until: string): TurnRef[] {
    return this.#running.findLast(({ after }) => after <= until)?.turns ?? [];
  }

  /** True if the turn is known to have begun after the given time. */
  beganAfter(author: TurnRef, time: string): boolean {
    return (this.#begun.get(turnKey(author)) ?? "") > time;
  }

  headAt(until: string): string | null | undefined {
    return this.moments.findLast(({ step }) => step.time <= until)?.step.head;
  }

  /** Returns the last recorded step, if a restore followed it. */
  safetyBefore(until: string): Step | null {
    const step = this.moments.findLast(({ step: { time } }) => time <= until)?.step;
    return step?.kind === "safety" ? step : null;
  }

  /** Work trees that a restore may have taken files from: a fork is saved right before its work is taken. */
  takenAt(safety: Step): string[] {
    const newest = new Map<string, Step>();
    for (const step of stepsNewestFirst(this.#workspace)) {
      if (step.time <= safety.time && step.worktree !== safety.worktree && !newest.has(step.worktree))
        newest.set(step.worktree, step);
    }
    return [...newest].flatMap(([worktree, { kind, name }]) => (kind === "manual" && name === null ? [worktree] : []));
  }

  #follow(steps: readonly Step[]): Moment[] {
    const running = new Map<string, TurnRef>();
    return steps.map((step) => {
      const author = turnOfStep(step);
      const during = new Map(running);
      if (author && step.kind !== "turn-start") during.set(sessionRefKey(author), author);
      if (author) {
        if (step.kind === "turn-start") this.#begun.set(turnKey(author), step.time);
        if (step.kind === "turn-end") {
          running.delete(sessionRefKey(author));
          this.#claim(author, step);
        } else running.set(sessionRefKey(author), author);
      }
      this.#running.push({ after: step.time, turns: [...running.values()] });
      return { step, during: [...during.values()] };
    });
  }

  #claim(author: TurnRef, { files }: Step): void {
    this.#files.set(turnKey(author), new Set(changedPaths(files)));
  }
}

/** Returns the steps of one work tree, oldest first. */
function stepsOf(workspace: Workspace, worktree: string): Step[] {
  const steps: Step[] = [];
  for (const step of stepsNewestFirst(workspace)) {
    if (step.worktree !== worktree) continue;
    steps.push(step);
    if (steps.length >= MAX_STEPS) break;
  }
  return steps.reverse().sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}
