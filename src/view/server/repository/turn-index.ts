/**
 * The recorded steps as a list of turns, newest first, read from the end of the file, and only as far as needed. One
 * index is one state of the file: when the file changes, a new one is made.
 */
import { statSync } from "node:fs";
import type { Workspace } from "../../../git/workspace.ts";
import type { Step } from "../../../model/step.ts";
import { isTurnStep, turnKey } from "../../../model/turn.ts";
import { readTurnStatuses, type TurnStatuses } from "../../../restore/targets/turn-status.ts";
import { indexFile } from "../../../steps/index-file.ts";
import { stepsIn } from "../../../steps/log.ts";

/** The steps of one turn, newest first; or a single step that belongs to no turn. */
export interface StepGroup {
  key: string;
  position: number;
  steps: [Step, ...Step[]];
  isTurn: boolean;
}

/** How many more steps to read for the rest of a turn with no recorded start. */
const MAX_LOOKAHEAD = 200;
/** Whoever asks for one group after another gets them in blocks, so that the statuses are found once for each block. */
const READ_AHEAD = 250;

export class TurnIndex {
  readonly #workspace: Workspace;
  readonly #source: Generator<Step>;
  readonly #read: Step[] = [];
  readonly #groups: StepGroup[] = [];
  readonly #byKey = new Map<string, StepGroup>();
  readonly #byStep = new Map<string, StepGroup>();
  readonly #started = new Set<string>();
  #isComplete = false;
  #statuses: { count: number; statuses: TurnStatuses } | undefined;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    this.#source = stepsIn(workspace).newestFirst();
  }

  /** The group at a position, with all of its steps; undefined after the last one. */
  at(position: number): StepGroup | undefined {
    if (this.#groups.length <= position) while (this.#groups.length <= position + READ_AHEAD && this.#readOne());
    const group = this.#groups[position];
    if (group) this.#finish(group);
    return group;
  }

  /** The group of a step. */
  of(step: string): StepGroup | undefined {
    while (!this.#byStep.has(step) && this.#readOne());
    const group = this.#byStep.get(step);
    if (group) this.#finish(group);
    return group;
  }

  ofTurn(key: string): StepGroup | undefined {
    while (!this.#byKey.has(key) && this.#readOne());
    const group = this.#byKey.get(key);
    if (group) this.#finish(group);
    return group;
  }

  step(id: string): Step | undefined {
    return this.of(id)?.steps.find((step) => step.id === id);
  }

  /** Every step, newest first. */
  all(): readonly Step[] {
    while (this.#readOne());
    return this.#read;
  }

  /** Valid for the steps read so far. */
  statuses(): TurnStatuses {
    if (this.#statuses?.count !== this.#read.length)
      this.#statuses = { count: this.#read.length, statuses: readTurnStatuses(this.#workspace, this.#read) };
    return this.#statuses.statuses;
  }

  /** Reads on until the turn's start, which is its oldest step. */
  #finish({ key, isTurn }: StepGroup): void {
    if (!isTurn) return;
    for (let ahead = 0; !this.#started.has(key) && ahead < MAX_LOOKAHEAD && this.#readOne(); ahead++);
  }

  #readOne(): boolean {
    const { value: step, done } = this.#isComplete ? { value: undefined, done: true } : this.#source.next();
    if (done || !step) {
      this.#isComplete = true;
      return false;
    }
    this.#read.push(step);
    const isTurn = isTurnStep(step);
    const key = isTurn ? turnKey(step) : step.id;
    if (step.kind === "turn-start") this.#started.add(key);
    const known = this.#byKey.get(key);
    if (known) known.steps.push(step);
    else {
      const group: StepGroup = { key, position: this.#groups.length, steps: [step], isTurn };
      this.#groups.push(group);
      this.#byKey.set(key, group);
    }
    const group = known ?? this.#byKey.get(key);
    if (group) this.#byStep.set(step.id, group);
    return true;
  }
}

/** Changes whenever the list of steps or that of restores does. */
export function stateMark(workspace: Workspace, restoresFile: string): string {
  return [indexFile(workspace), restoresFile]
    .map((path) => statSync(path, { throwIfNoEntry: false }))
    .map((stat) => (stat ? `${stat.ino}-${stat.size}-${stat.mtimeMs}` : "none"))
    .join("-");
}
