import { expect, test } from "bun:test";
import type { Hunk } from "../../protocol.ts";
import { changedParts, changedRanges, pairRows, type Range, rowsOf } from "./rows.ts";

const hunk = (oldStart: number, newStart: number, lines: string[], section = ""): Hunk => ({
  oldStart,
  newStart,
  oldLines: lines.filter((line) => !line.startsWith("+")).length,
  newLines: lines.filter((line) => !line.startsWith("-")).length,
  section,
  lines,
});

test("rows have the line numbers of both sides", () => {
  const rows = rowsOf([hunk(10, 12, [" one", "-- two", "++ zwei", " three", "\\ No newline"], "head")]);
  expect(rows.map(({ kind, text, old, new: fresh }) => [kind, text, old, fresh])).toEqual([
    ["hunk", "head", 10, 12],
    ["context", "one", 10, 12],
    ["delete", "- two", 11, 0],
    ["add", "+ zwei", 0, 13],
    ["context", "three", 12, 14],
    ["note", "No newline at the end of the file", 0, 0],
  ]);
});

test("a hunk that continues the one before has no header, nor has the start of a file", () => {
  const rows = rowsOf([hunk(0, 1, ["+a", "+b"]), hunk(0, 3, ["+c"]), hunk(9, 20, [" d"])]);
  expect(rows.map(({ kind }) => kind)).toEqual(["add", "add", "add", "hunk", "context"]);
});

test("a changed line is beside the line that it replaces, with the changed part", () => {
  const pairs = pairRows(rowsOf([hunk(1, 1, ["-price = net * 1.2;", "+price = net * 12;", "+more"])]));
  expect(pairs.map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ["price = net * 1.2;", "price = net * 12;"],
    [undefined, "more"],
  ]);
  expect([...changedParts(pairs).values()]).toEqual([[{ start: 14, end: 17 }], [{ start: 14, end: 16 }]]);
});

/** The line with its changed parts in brackets. */
function marked(before: string, after: string): string[] | null {
  const changed = changedRanges(before, after);
  if (!changed) return null;
  const mark = (text: string, ranges: readonly Range[]) =>
    ranges
      .toReversed()
      .reduce((all, { start, end }) => `${all.slice(0, start)}[${all.slice(start, end)}]${all.slice(end)}`, text);
  return [mark(before, changed.before), mark(after, changed.after)];
}

test("each changed word is marked, and equal text between them is not", () => {
  expect(marked('import { price } from "./price.js";', 'import { cached } from "./cache.js";')).toEqual([
    'import { [price] } from "./[price].js";',
    'import { [cached] } from "./[cache].js";',
  ]);
  expect(marked("  return sum;", "    return sum;")).toEqual(["[  ]return sum;", "[    ]return sum;"]);
  expect(marked("total(a)", "total(a, b)")).toEqual(["total(a)", "total(a[, b])"]);
});

test("lines that have little in common are not marked, nor are equal ones", () => {
  expect(marked("alpha beta", "omega")).toBeNull();
  expect(marked("", "omega")).toBeNull();
  expect(marked("same", "same")).toBeNull();
});

test("a line of very many words is compared by its two ends", () => {
  const words = (word: string) => Array.from({ length: 5000 }, (_, i) => `${word}${i}`).join(" ");
  expect(marked(`${words("a")} x ${words("b")}`, `${words("a")} y ${words("b")}`)?.[0]).toContain(" [x] ");
});
