/**
 * Where the lines of history run beside the timeline: the current line in lane 0, and each line that was rewound, forked
 * or worked in another work tree in a separate lane, from its newest turn down to the turn at which it branched off.
 */
import type { Branch } from "../../protocol.ts";

export interface RailItem {
  id: string;
  branch: string;
}

/** A line in one row: `top` and `bottom` say which halves of the row it crosses. */
export interface Segment {
  lane: number;
  top: boolean;
  bottom: boolean;
  kind: Branch["kind"];
  /** The lane that the line joins in this row, coming from above. */
  joins?: number;
}

export interface RailRow {
  lane: number;
  segments: Segment[];
}

/** More lines than this share the last lane. */
const MAX_LANES = 5;

interface Span {
  branch: Branch;
  first: number;
  last: number;
  /** The row of the item at which the line left; -1 if it is not in the list. */
  join: number;
  lane: number;
}

/** `more`: older items are not loaded, so that the current line continues below. */
export function railOf(items: readonly RailItem[], branches: readonly Branch[], more: boolean): RailRow[] {
  const spans = spansOf(items, branches);
  const lanes = new Map(spans.map(({ branch, lane }) => [branch.id, lane]));
  const rows: RailRow[] = items.map(({ branch }) => ({ lane: lanes.get(branch) ?? 0, segments: [] }));
  for (const { branch, first, last, join, lane } of spans) {
    const isCurrent = branch.kind === "current";
    const end = isCurrent ? items.length - 1 : join < 0 ? last : join;
    for (let i = first; i <= end; i++) {
      const isEnd = i === end;
      const joins = !isCurrent && isEnd && join >= 0 ? { joins: rows[i]?.lane ?? 0 } : {};
      const bottom = !isEnd || (isCurrent && more);
      rows[i]?.segments.push({ lane, top: i > first, bottom, kind: branch.kind, ...joins });
    }
  }
  return rows;
}

export function lanesOf(rows: readonly RailRow[]): number {
  let most = 0;
  for (const { segments } of rows) for (const { lane } of segments) most = Math.max(most, lane);
  return most + 1;
}

function spansOf(items: readonly RailItem[], branches: readonly Branch[]): Span[] {
  const rowOf = new Map(items.map(({ id }, i) => [id, i]));
  const ends = new Map<string, { first: number; last: number }>();
  for (const [i, { branch }] of items.entries()) {
    const known = ends.get(branch);
    if (known) known.last = i;
    else ends.set(branch, { first: i, last: i });
  }
  const spans: Span[] = [];
  const busyUntil: number[] = [];
  const found = branches.flatMap((branch) => {
    const range = ends.get(branch.id);
    return range ? [{ branch, ...range }] : [];
  });
  found.sort((a, b) => a.first - b.first);
  for (const { branch, first, last } of found) {
    const from = branch.from === null ? undefined : rowOf.get(branch.from);
    // A line that branched off at a step without a row joins the row below it.
    const below = items[last + 1] ? last + 1 : -1;
    const join = from !== undefined && from > last ? from : below;
    let lane = 0;
    if (branch.kind !== "current") {
      lane = 1;
      while (lane < MAX_LANES - 1 && (busyUntil[lane] ?? -1) >= first) lane += 1;
      busyUntil[lane] = join < 0 ? last : join;
    }
    spans.push({ branch, first, last, join, lane });
  }
  return spans;
}
