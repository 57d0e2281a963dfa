/** Whose turn it was, at every moment that was recorded in a work tree. */
import type { Workspace } from "../git/workspace.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import type { Step } from "../steps/model.ts";

/** A turn of a session. */
export interface Author {
  agent: string;
  session: string;
  turn: number;
}

export interface Moment {
  step: Step;
  /** Whose turns were under way when this state was reached. */
  during: Author[];
}

/** Later than any time. */
const LAST = "9999";
const MOST_STEPS = 10_000;

export class Turns {
  /** Oldest first. */
  readonly moments: readonly Moment[];
  readonly #running: { after: string; turns: Author[] }[] = [];
  readonly #files = new Map<string, Set<string>>();
  readonly #begun = new Map<string, string>();

  constructor(workspace: Workspace, worktree: string) {
    this.moments = this.#follow(stepsOf(workspace, worktree));
  }

  /** One turn under way wrote it; of several, the one that says it changed that file. */
  choose(during: readonly Author[], path: string, step: Step | null): Author | null {
    const [only, ...others] = during;
    if (!only || others.length === 0) return only ?? null;
    const claiming = during.filter((author) => this.#files.get(turnKey(author))?.has(path));
    const own = (author: Author) => author.session === step?.session && author.agent === step.agent;
    return claiming.find(own) ?? claiming[0] ?? during.find(own) ?? only;
  }

  /** Whatever was recorded on the commit's parent came before the commit, even where its time says otherwise. */
  lastMoment(until: string | null, parent: string | null): string {
    if (until === null) return LAST;
    const onParent = parent ? this.moments.filter(({ step }) => step.head === parent) : [];
    const isAfter = onParent.length > 0 && onParent.every(({ step }) => step.time > until);
    return isAfter ? (onParent.at(-1)?.step.time ?? until) : until;
  }

  runningAt(until: string): Author[] {
    return this.#running.findLast(({ after }) => after <= until)?.turns ?? [];
  }

  /** Whether a turn is known to have begun only after that. */
  beganAfter(author: Author, time: string): boolean {
    return (this.#begun.get(turnKey(author)) ?? "") > time;
  }

  /** Where HEAD was. */
  headAt(until: string): string | null | undefined {
    return this.moments.findLast(({ step }) => step.time <= until)?.step.head;
  }

  #follow(steps: readonly Step[]): Moment[] {
    const running = new Map<string, Author>();
    return steps.map((step) => {
      const author = authorOf(step);
      const during = new Map(running);
      if (author && step.kind !== "turn-start") during.set(sessionOf(author), author);
      if (author) {
        if (step.kind === "turn-start") this.#begun.set(turnKey(author), step.time);
        if (step.kind === "turn-end") {
          running.delete(sessionOf(author));
          this.#claim(author, step);
        } else running.set(sessionOf(author), author);
      }
      this.#running.push({ after: step.time, turns: [...running.values()] });
      return { step, during: [...during.values()] };
    });
  }

  #claim(author: Author, { files }: Step): void {
    this.#files.set(turnKey(author), new Set([...files.added, ...files.modified, ...files.deleted]));
  }
}

export function turnKey({ agent, session, turn }: Author): string {
  return `${agent}\0${session}\0${turn}`;
}

/** Of one work tree, oldest first. */
function stepsOf(workspace: Workspace, worktree: string): Step[] {
  const steps: Step[] = [];
  for (const step of stepsNewestFirst(workspace)) {
    if (step.worktree !== worktree) continue;
    steps.push(step);
    if (steps.length >= MOST_STEPS) break;
  }
  return steps.reverse().sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

function authorOf(step: Step): Author | null {
  const ofTurn = step.kind === "turn-start" || step.kind === "turn-end" || step.kind === "task" || step.kind === "tool";
  if (!ofTurn || step.session === null || step.agent === null || step.turn === 0) return null;
  return { agent: step.agent, session: step.session, turn: step.turn };
}

function sessionOf({ agent, session }: Author): string {
  return `${agent}\0${session}`;
}
