/** What can be picked: a turn (to go to before it, or to after it) or a single moment such as a named step. */
import { oneLine } from "../../base/text.ts";
import type { Fates } from "../../restore/fates.ts";
import type { Step } from "../../steps/model.ts";
import { forkTitle, stampMark, titleOf } from "../render/timeline.ts";
import { type Turn, tasksOf, turnsOf } from "../render/turns.ts";

export interface PickerEntry {
  title: string;
  /** The state before the turn; null where none was taken, and for single moments. */
  before: Step | null;
  /** The state after it, or the moment itself. */
  after: Step;
  isTurn: boolean;
  /** It was undone, or a rewind took it back. */
  isGone: boolean;
  /** What became of it, in a word or two: "undone", "taken back", "forked", and what a check said. */
  note: string;
  /** Subagents and forks, a line each. */
  details: string[];
  /** What is searched while one types. */
  haystack: string;
}

export interface Known {
  fates?: Fates;
  verdictOf?: (step: Step) => string | undefined;
}

export function entriesFrom(steps: readonly Step[], known: Known = {}): PickerEntry[] {
  return turnsOf(steps).map((turn) => entryOf(turn, known));
}

/** Which step is meant: before the turn where that can be had, unless `after` was asked for. */
export function stepOf(entry: PickerEntry, after: boolean): Step {
  return after ? entry.after : (entry.before ?? entry.after);
}

/** Every word has to occur somewhere. */
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
  const words = [
    title,
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
  const notes = [stampMark(verdictOf?.(head), (_, text) => text), fate, forks.length > 0 ? "forked" : ""];
  const note = notes.filter((text) => text !== "").join(" ");
  const tasks = tasksOf(turn).map((task) => `${titleOf(task)}${fates?.of(task) === "undone" ? " (undone)" : ""}`);
  const details = [...tasks, ...forks.map(forkTitle)];
  const haystack = [...words, note, ...details].join("\n").toLowerCase();
  return { title, before: start, after: head, isTurn, isGone: fate !== "", note, details, haystack };
}
