import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  asBuffer,
  completeLines,
  completeLinesBackwards,
  endOfLines,
  type Line,
  readLines,
  startsWith,
} from "./lines.ts";

test("a torn last line is not read", () => {
  const bytes = Buffer.from("one\n\ntwo\ntorn");
  const lines = [...completeLines(bytes)].map(({ start, end }) => bytes.toString("utf8", start, end));
  expect(lines).toEqual(["one", "", "two"]);
  expect(endOfLines(bytes)).toBe(9);
  expect(endOfLines(Buffer.from("torn"))).toBe(0);
});

test("lines that say nothing are left out", () => {
  const bytes = Buffer.from("one\n\ntwo\ntorn");
  const word = (from: Buffer, { start, end }: Line) => from.toString("utf8", start, end) || null;
  expect([...readLines(bytes, word)]).toEqual([
    ["one", { start: 0, end: 3 }],
    ["two", { start: 5, end: 8 }],
  ]);
});

test("backwards gives the same lines", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "é") }), (text) => {
      const bytes = Buffer.from(text);
      expect([...completeLinesBackwards(bytes)].reverse()).toEqual([...completeLines(bytes)]);
    }),
  );
});

test("a view of memory stays that view", () => {
  const whole = new TextEncoder().encode("xxabcxx");
  expect(asBuffer(whole.subarray(2, 5)).toString()).toBe("abc");
});

test("beginnings are compared within the line", () => {
  const bytes = Buffer.from("ab\ncd\n");
  expect(startsWith(bytes, { start: 0, end: 2 }, Buffer.from("ab"))).toBe(true);
  expect(startsWith(bytes, { start: 0, end: 2 }, Buffer.from("ab\n"))).toBe(false);
});
