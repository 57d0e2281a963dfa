/** Builds the entries of the picker: a turn (the state before or after it), or a single step such as a named one. */
import { oneLine } from "../../base/text.ts";
import type { Step } from "../../model/step.ts";
import { groupTurns, type Turn, tasksOf } from "../../model/turn.ts";
import type { TurnStatuses } from "../../restore/targets/turn-status.ts";
import { checkMark, forkTitle, titleOf, turnNumber } from "../render/timeline/timeline.ts";

export interface PickerEntry {
  title: string;
  /** The state before the turn; null if it was not recorded, and for single steps. */
  before: Step | null;
  /** The state after the turn, or the single step itself. */
  after: Step;
  isTurn: boolean;
  /** The number of turns back; null if the entry is not a turn, or not part of the current history. */
  back: number | null;
  /** True if the turn was undone, or if a rewind reverted it. */
  isGone: boolean;
  /** The status in a word or two: "undone", "rewound", "forked", and the result of a check. */
  note: string;
  /** Subagents and forks, one line each. */
  details: string[];
  /** The text that the filter searches. */
  haystack: string;
}

export interface Known {
  fates?: TurnStatuses;
  verdictOf?: (step: Step) => string | undefined;
}

export function entriesFrom(steps: readonly Step[], known: Known = {}): PickerEntry[] {
  return groupTurns(steps).map((turn) => entryOf(turn, known));
}

/** The step to go to: before the turn if that state exists, unless `after` is set. */
export function stepOf(entry: PickerEntry, after: boolean): Step {
  return after ? entry.after : (entry.before ?? entry.after);
}

/** Every word of the query must occur. */
export function matching(entries: readonly PickerEntry[], query: string): PickerEntry[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return words.length === 0
    ? [...entries]
    : entries.filter(({ haystack }) => words.every((word) => haystack.includes(word)));
}

function entryOf(turn: Turn, { fates, verdictOf }: Known): PickerEntry {
  const { head } = turn;
  const start = turn.steps.find(({ kind }) => kind === "turn-start") ?? null;
  const isTurn = start !== null || head.kind === "turn-end";
  const title = isTurn ? oneLine(turn.prompt ?? "(no prompt recorded)") : titleOf(head);
  const { added, modified, deleted } = head.files;
  const back = fates?.turnsBack(head) ?? null;
  const words = [
    title,
    back === null ? "" : turnNumber(back),
    head.id,
    start?.id ?? "",
    head.agent ?? "",
    head.name ?? "",
    head.branch ?? "",
    ...added,
    ...modified,
    ...deleted,
  ];
  const forks = fates?.forks(turn.steps) ?? [];
  const fate = fates?.of(head) ?? "";
  const notes = [checkMark(verdictOf?.(head), (_, text) => text), fate, forks.length > 0 ? "forked" : ""];
  const note = notes.filter((text) => text !== "").join(" ");
  const tasks = tasksOf(turn).map((task) => `${titleOf(task)}${fates?.of(task) === "undone" ? " (undone)" : ""}`);
  const details = [...tasks, ...forks.map(forkTitle)];
  const haystack = [...words, note, ...details].join("\n").toLowerCase();
  return { title, before: start, after: head, isTurn, back, isGone: fate !== "", note, details, haystack };
}
