/** Turns the hunks of a diff into rows, and pairs rows for the side-by-side view. */
import type { Hunk } from "../../protocol.ts";

export interface Row {
  kind: "context" | "add" | "delete" | "hunk" | "note";
  text: string;
  /** Line numbers; 0 where the line does not exist. */
  old: number;
  new: number;
}

/** The left and the right side of a row. */
export interface Pair {
  left: Row | null;
  right: Row | null;
}

/** Takes the line numbers from the hunks; a hunk that only continues another has no header. */
export function rowsOf(hunks: readonly Hunk[]): Row[] {
  const rows: Row[] = [];
  let expected = -1;
  for (const hunk of hunks) {
    let old = hunk.oldStart;
    let fresh = hunk.newStart;
    if (fresh !== expected && !(rows.length === 0 && old <= 1 && fresh <= 1))
      rows.push({ kind: "hunk", text: hunk.section.trim(), old, new: fresh });
    for (const line of hunk.lines) {
      const text = line.slice(1);
      if (line[0] === "+") rows.push({ kind: "add", text, old: 0, new: fresh++ });
      else if (line[0] === "-") rows.push({ kind: "delete", text, old: old++, new: 0 });
      else if (line[0] === "\\") rows.push({ kind: "note", text: "No newline at the end of the file", old: 0, new: 0 });
      else rows.push({ kind: "context", text, old: old++, new: fresh++ });
    }
    expected = fresh;
  }
  return rows;
}

/** Puts deleted lines beside the lines that replaced them. */
export function pairRows(rows: readonly Row[]): Pair[] {
  const pairs: Pair[] = [];
  for (let i = 0; i < rows.length; ) {
    const row = rows[i] as Row;
    if (row.kind !== "delete" && row.kind !== "add") {
      pairs.push({ left: row, right: row });
      i += 1;
      continue;
    }
    const deleted: Row[] = [];
    const added: Row[] = [];
    for (; rows[i]?.kind === "delete"; i++) deleted.push(rows[i] as Row);
    for (; rows[i]?.kind === "add"; i++) added.push(rows[i] as Row);
    for (let n = 0; n < Math.max(deleted.length, added.length); n++)
      pairs.push({ left: deleted[n] ?? null, right: added[n] ?? null });
  }
  return pairs;
}

export interface Range {
  start: number;
  end: number;
}

/** The changed parts of a deleted line and the added line beside it, if the two are similar. */
export function changedParts(pairs: readonly Pair[]): Map<Row, readonly Range[]> {
  const parts = new Map<Row, readonly Range[]>();
  for (const { left, right } of pairs) {
    if (left?.kind !== "delete" || right?.kind !== "add") continue;
    const changed = changedRanges(left.text, right.text);
    if (!changed) continue;
    parts.set(left, changed.before);
    parts.set(right, changed.after);
  }
  return parts;
}

/** Longer lines are compared by their beginnings and ends alone: the time grows with the square of the words. */
const MAX_WORDS = 80;
/** Of the shorter line, what must be the same: otherwise the marks say nothing. */
const MIN_COMMON = 0.4;

/** Where two lines differ, word by word; null if little is common, or everything. */
export function changedRanges(before: string, after: string): { before: Range[]; after: Range[] } | null {
  if (before === after) return null;
  const old = wordsOf(before);
  const fresh = wordsOf(after);
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < Math.min(old.length, fresh.length) - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const kept = commonWords(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail));
  const isKept = (side: "old" | "fresh", words: readonly string[]) => (i: number) =>
    i < head || i >= words.length - tail || kept.some((pair) => pair[side] === i - head);
  const isSame = isKept("old", old);
  const common = old.reduce((sum, word, i) => sum + (isSame(i) ? word.trim().length : 0), 0);
  if (common === 0 || common < MIN_COMMON * Math.min(visibleLength(before), visibleLength(after))) return null;
  return { before: rangesOf(old, isSame), after: rangesOf(fresh, isKept("fresh", fresh)) };
}

/** Names, numbers, spaces, and every other character alone. */
function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function visibleLength(text: string): number {
  return text.replace(/\s+/g, "").length;
}

/** The longest common subsequence, as pairs of positions. */
function commonWords(old: readonly string[], fresh: readonly string[]): { old: number; fresh: number }[] {
  if (old.length === 0 || fresh.length === 0 || old.length > MAX_WORDS || fresh.length > MAX_WORDS) return [];
  const width = fresh.length + 1;
  const longest = new Uint16Array((old.length + 1) * width);
  const at = (i: number, k: number) => longest[i * width + k] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let k = fresh.length - 1; k >= 0; k--)
      longest[i * width + k] = old[i] === fresh[k] ? at(i + 1, k + 1) + 1 : Math.max(at(i + 1, k), at(i, k + 1));
  const pairs: { old: number; fresh: number }[] = [];
  for (let i = 0, k = 0; i < old.length && k < fresh.length; ) {
    if (old[i] === fresh[k]) pairs.push({ old: i++, fresh: k++ });
    else if (at(i + 1, k) >= at(i, k + 1)) i++;
    else k++;
  }
  return pairs;
}

/** The words that are not kept, as characters. A space or a sign between two of them belongs to them. */
function rangesOf(words: readonly string[], isKept: (i: number) => boolean): Range[] {
  const ranges: Range[] = [];
  let start = 0;
  for (const [i, word] of words.entries()) {
    const end = start + word.length;
    const last = ranges.at(-1);
    const isBetween = word.length === 1 && last?.end === start && i + 1 < words.length && !isKept(i + 1);
    if (!isKept(i) || isBetween) {
      if (last?.end === start) last.end = end;
      else ranges.push({ start, end });
    }
    start = end;
  }
  return ranges;
}
