/** What can be picked: a turn (to go to before it, or to after it) or a single moment such as a named step. */
import { oneLine } from "../../base/text.ts";
import type { Step } from "../../steps/model.ts";
import { titleOf } from "../render/timeline.ts";
import { type Turn, turnsOf } from "../render/turns.ts";

export interface PickerEntry {
  title: string;
  /** The state before the turn; null where none was taken, and for single moments. */
  before: Step | null;
  /** The state after it, or the moment itself. */
  after: Step;
  isTurn: boolean;
  /** What is searched while one types. */
  haystack: string;
}

export function entriesFrom(steps: readonly Step[]): PickerEntry[] {
  return turnsOf(steps).map(entryOf);
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

function entryOf(turn: Turn): PickerEntry {
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
  return { title, before: start, after: head, isTurn, haystack: words.join("\n").toLowerCase() };
}
