/** The rows of the timeline as it is drawn: days, turns, saved states and operations. */
import type { TimelineItem } from "../../protocol.ts";
import { dayKey } from "../text/format.ts";

export type Entry = { kind: "day"; day: string } | { kind: "item"; item: TimelineItem; index: number };

export const HEIGHTS = { day: 34, turn: 60, saved: 34, operation: 34, subagent: 30 } as const;

/** `index` is the row of the item in the list, which the rail is drawn by. */
export function entriesOf(items: readonly TimelineItem[]): Entry[] {
  const entries: Entry[] = [];
  let day = "";
  for (const [index, item] of items.entries()) {
    const key = dayKey(timeOf(item));
    if (key !== day && key !== "") {
      day = key;
      entries.push({ kind: "day", day });
    }
    entries.push({ kind: "item", item, index });
  }
  return entries;
}

function timeOf(item: TimelineItem): string {
  return item.kind === "turn" ? (item.endedAt ?? item.startedAt ?? "") : item.time;
}

export function heightOf(entry: Entry): number {
  return entry.kind === "day" ? HEIGHTS.day : heightOfItem(entry.item);
}

/** Subagents are shown in the row of their turn. */
export function heightOfItem(item: TimelineItem): number {
  const below = item.kind === "turn" ? item.subagents.length * HEIGHTS.subagent : 0;
  return HEIGHTS[item.kind] + below;
}
