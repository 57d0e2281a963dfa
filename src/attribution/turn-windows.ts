/**
 * Determines which turns and subagents were at work between recorded states, and which files they report to have
 * changed. Positions refer to the given steps: a change "at i" happened after step i and not after step i + 1.
 */
import { changedPaths } from "../model/changes.ts";
import { sessionRefKey } from "../model/session.ts";
import type { Step } from "../model/step.ts";
import { type TurnRef, turnKey, turnOfStep } from "../model/turn.ts";

export interface TurnWindow {
  turn: TurnRef;
  /** The subagent's own id; null for the turn itself. */
  subagent: string | null;
  /** Position of the step at which the work began; -1 if it began before the first step. */
  from: number;
  /** Position from which the work may have begun; less than `from` if no step records the beginning. */
  earliest: number;
  /** Position of the step at which the work ended; infinite if it has not ended. */
  to: number;
  /** Position until which the work may have gone on; more than `to` if no step records the end. */
  latest: number;
  ended: boolean;
  /** The newest step of the work; null if it has none yet. */
  last: Step | null;
  /** The files that the turn's or subagent's own steps report, or its transcript while it runs. */
  files: ReadonlySet<string>;
}

/** A turn that is running now, and the files that its tools have written so far. */
export interface RunningTurn {
  turn: TurnRef;
  files: readonly string[];
}

interface Draft extends Omit<TurnWindow, "latest"> {
  latest: number | null;
  lastAt: number;
}

/**
 * `steps` are oldest first and of one work tree; null is an entry of the history that is not a step. `running` are
 * all running turns, if known: of any other turn without an end, only the time up to its last step is certain. If
 * unknown, a turn without an end runs until its session's next turn.
 */
export function turnWindows(
  steps: readonly (Step | null)[],
  running: readonly RunningTurn[] | undefined = undefined,
): TurnWindow[] {
  const windows = new Windows();
  for (const [at, step] of steps.entries()) if (step) windows.add(step, at);
  return windows.finish(steps.length, running);
}

class Windows {
  readonly #all: Draft[] = [];
  /** The open turn of each session, by the session's key. */
  readonly #turns = new Map<string, Draft>();
  /** Open subagents, by their session's key and their id, each with its turn's window. */
  readonly #tasks = new Map<string, { draft: Draft; within: Draft | undefined }>();
  readonly #ended = new Set<string>();
  /** Position of each session's newest step. */
  readonly #lastAt = new Map<string, number>();

  add(step: Step, at: number): void {
    const { agent, session } = step;
    if (agent === null || session === null) return;
    const turn = turnOfStep(step);
    if (turn) {
      this.#addToTurn(turn, step, at);
      if (step.kind === "task" && step.subagent) this.#addToTask(turn, step, step.subagent, at);
    }
    this.#lastAt.set(sessionRefKey(turn ?? { agent, session }), at);
  }

  #addToTurn(turn: TurnRef, step: Step, at: number): void {
    const session = sessionRefKey(turn);
    const begins = step.kind === "turn-start";
    let open = this.#turns.get(session);
    if (open && (begins || open.turn.turn !== turn.turn)) {
      open.to = begins ? at : at - 1;
      this.#turns.delete(session);
      open = undefined;
    }
    // A subagent may end after its turn: that does not reopen the turn.
    if (!open && step.kind === "task" && this.#ended.has(turnKey(turn))) return;
    open ??= this.#open(turn, null, begins, at);
    this.#turns.set(session, open);
    open.last = step;
    open.lastAt = at;
    if (step.kind !== "turn-end") return;
    open.to = at;
    open.ended = true;
    open.files = new Set(changedPaths(step.files));
    this.#turns.delete(session);
    this.#ended.add(turnKey(turn));
  }

  #addToTask(turn: TurnRef, step: Step, { id, when }: NonNullable<Step["subagent"]>, at: number): void {
    const key = `${sessionRefKey(turn)}\0${id}`;
    const begins = when === "start";
    const known = begins ? undefined : this.#tasks.get(key);
    const draft = known?.draft ?? this.#open(turn, id, begins, at);
    if (!known) this.#tasks.set(key, { draft, within: this.#turns.get(sessionRefKey(turn)) });
    draft.last = step;
    draft.lastAt = at;
    if (when !== "start") draft.files = new Set(changedPaths(step.files));
    if (when !== "end") return;
    draft.to = at;
    draft.ended = true;
    this.#tasks.delete(key);
  }

  #open(turn: TurnRef, subagent: string | null, begins: boolean, at: number): Draft {
    const earliest = begins ? at : (this.#lastAt.get(sessionRefKey(turn)) ?? -1);
    const draft: Draft = {
      turn,
      subagent,
      from: begins ? at : at - 1,
      earliest: Math.min(earliest, begins ? at : at - 1),
      to: Number.POSITIVE_INFINITY,
      latest: null,
      ended: false,
      last: null,
      lastAt: at,
      files: new Set(),
    };
    this.#all.push(draft);
    return draft;
  }

  finish(count: number, running: readonly RunningTurn[] | undefined): TurnWindow[] {
    const alive = new Set<Draft>();
    for (const { turn, files } of running ?? []) {
      const known = this.#turns.get(sessionRefKey(turn));
      // If no step of the turn is recorded yet, only the present is certain.
      const draft = known?.turn.turn === turn.turn ? known : this.#open(turn, null, false, count);
      draft.files = new Set(files);
      alive.add(draft);
    }
    for (const draft of this.#turns.values()) {
      if (!running || alive.has(draft)) continue;
      draft.to = draft.lastAt;
      draft.latest = Number.POSITIVE_INFINITY;
    }
    // A subagent without an end is over when its turn is.
    for (const { draft, within } of this.#tasks.values()) draft.to = Math.max(within?.to ?? 0, draft.lastAt);
    const windows = this.#all.map(({ lastAt: _, latest, ...window }) => ({ ...window, latest: latest ?? window.to }));
    return windows.sort((a, b) => a.from - b.from);
  }
}

/** Whether the work was certainly under way between step `at` and the next one. */
export function isAtWork({ from, to }: TurnWindow, at: number): boolean {
  return from <= at && at < to;
}

/** Whether the work may have been under way: its beginning and its end need not be recorded. */
export function mayBeAtWork({ earliest, latest }: TurnWindow, at: number): boolean {
  return earliest <= at && at < latest;
}
