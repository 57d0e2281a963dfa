import { expect, test } from "bun:test";
import { fileLine, line, MAX_LINE, visible } from "./visible.ts";

test("terminal escapes disappear, control and bidi characters can be seen", () => {
  expect(visible("\u001b[31mred\u001b[0m \u001b]8;;http://a\u0007link\u001b]8;;\u0007")).toBe("red link");
  expect(visible("a\u0000b\u0007c\u007f")).toBe("a␀b␇c␡");
  expect(visible("safe \u202Egnp.exe")).toBe("safe ‹U+202E›gnp.exe");
  expect(visible("tab\tand\r\nline")).toBe("tab\tand\nline");
});

test("ordinary text is the same string", () => {
  const text = "Grüße, 世界 🎉\n\tindented";
  expect(visible(text)).toBe(text);
});

test("a line has no line ends and is cut", () => {
  expect(line("  one\n\n  two  ")).toBe("one two");
  expect(line("x".repeat(100), 10)).toBe(`${"x".repeat(9)}…`);
});

test("a line of ten megabytes is cut before it is processed", () => {
  const { text, cut } = fileLine("y".repeat(10_000_000));
  expect([text.length, cut]).toEqual([MAX_LINE, 10_000_000 - MAX_LINE]);
});
