import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { keptLines, linesOf } from "./line-diff.ts";

const lines = fc.array(fc.constantFrom("a", "b", "c", "d", "{", "}", ""), { maxLength: 30 });

describe("lines that stay", () => {
  test("a line put in between leaves the others what they are", () => {
    expect([...keptLines(["a", "b", "c"], ["a", "x", "b", "c"])]).toEqual([0, -1, 1, 2]);
  });

  test("repeated lines are held apart by those that occur once", () => {
    const before = ["one {", "}", "two {", "}"];
    const after = ["zero {", "}", "one {", "}", "two {", "}"];
    expect([...keptLines(before, after)]).toEqual([-1, -1, 0, 1, 2, 3]);
  });

  test("kept lines are equal and in the same order", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const kept = keptLines(before, after);
        let last = -1;
        for (const [at, from] of kept.entries()) {
          if (from < 0) continue;
          expect(before[from] === after[at]).toBe(true);
          expect(from).toBeGreaterThan(last);
          last = from;
        }
      }),
    );
  });

  test("without lines that occur once, as many are kept as can be", () => {
    const doubled = fc.array(fc.constantFrom("a", "b"), { minLength: 4, maxLength: 14 });
    fc.assert(
      fc.property(doubled, doubled, (before, after) => {
        const twice = [...before, ...before, "a", "b"];
        const other = [...after, ...after, "a", "b"];
        expect(keptLines(twice, other).filter((from) => from >= 0).length).toBe(longestCommon(twice, other));
      }),
    );
  });

  test("a text that has nothing in common is new as a whole, however long", () => {
    const before = Array.from({ length: 5_000 }, (_, i) => `old ${i % 7}`);
    const after = Array.from({ length: 5_000 }, (_, i) => `new ${i % 7}`);
    expect(keptLines(before, after).every((from) => from === -1)).toBe(true);
  });

  test("line ends are not part of a line", () => {
    expect(linesOf("a\r\nb\n")).toEqual(["a", "b"]);
    expect(linesOf("")).toEqual([]);
    expect(linesOf("\n")).toEqual([""]);
  });
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const row = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    let diagonal = 0;
    for (let j = 1; j <= b.length; j++) {
      const above = row[j] ?? 0;
      row[j] = line === b[j - 1] ? diagonal + 1 : Math.max(above, row[j - 1] ?? 0);
      diagonal = above;
    }
  }
  return row[b.length] ?? 0;
}
