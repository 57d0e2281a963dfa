/** Turns the hunks of a diff into rows, and pairs rows for the side-by-side view. */
import type { Hunk } from "../../protocol.ts";

export interface Row {
  kind: "context" | "add" | "delete" | "hunk" | "note";
  text: string;
  /** Line numbers; 0 where the line does not exist. */
  old: number;
  new: number;
}

/** What stood on the left, and what stands on the right. */
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

/** Deleted lines stand beside the lines that were added in their place. */
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

/** The part of each line that changed, where a deleted line stands beside an added one and most of it is the same. */
export function changedParts(pairs: readonly Pair[]): Map<Row, { start: number; end: number }> {
  const parts = new Map<Row, { start: number; end: number }>();
  for (const { left, right } of pairs) {
    if (left?.kind !== "delete" || right?.kind !== "add") continue;
    const part = changedPart(left.text, right.text);
    if (!part) continue;
    parts.set(left, { start: part.start, end: left.text.length - part.end });
    parts.set(right, { start: part.start, end: right.text.length - part.end });
  }
  return parts;
}

/** The length of the common start and of the common end of two lines; null if little is common. */
export function changedPart(before: string, after: string): { start: number; end: number } | null {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return start + end < shorter * 0.4 || before === after ? null : { start, end };
}
