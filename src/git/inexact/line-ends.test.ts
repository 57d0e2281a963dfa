import { expect, test } from "bun:test";
import type { ConversionConfig } from "../conversion/config-cache.ts";
import { compareLineEnds, parseLineEnds } from "./line-ends.ts";

const off = { autocrlf: "false", writesCrlf: false } as ConversionConfig;
const autocrlf = { autocrlf: "true", writesCrlf: true } as ConversionConfig;
const input = { autocrlf: "input", writesCrlf: false } as ConversionConfig;

function compared(line: string, facts: ConversionConfig): string | undefined {
  const ends = parseLineEnds(line);
  return ends && compareLineEnds(ends, facts);
}

test("lines of git ls-files --eol are read, with and without attributes", () => {
  expect(parseLineEnds("i/lf    w/crlf  attr/text=auto eol=crlf ")).toEqual({
    staged: "lf",
    file: "crlf",
    attributes: "text=auto eol=crlf",
  });
  expect(parseLineEnds("i/-text w/-text attr/                 ")?.attributes).toBe("");
  expect(parseLineEnds("i/      w/      attr/                 ")).toEqual({ staged: "", file: "", attributes: "" });
  expect(parseLineEnds("something else")).toBeUndefined();
});

test.each([
  ["i/lf    w/lf    attr/", off, "exact"],
  ["i/lf    w/lf    attr/", autocrlf, "inexact"],
  ["i/lf    w/crlf  attr/", autocrlf, "exact"],
  ["i/lf    w/crlf  attr/", input, "inexact"],
  ["i/lf    w/mixed attr/text=auto", off, "inexact"],
  ["i/lf    w/lf    attr/text=auto", off, "exact"],
  ["i/lf    w/lf    attr/text eol=crlf", off, "inexact"],
  ["i/lf    w/crlf  attr/text eol=crlf", off, "exact"],
  ["i/lf    w/lf    attr/-text", autocrlf, "exact"],
  ["i/lf    w/crlf  attr/-text", autocrlf, "unknown"],
  ["i/crlf  w/crlf  attr/text=auto", autocrlf, "exact"],
  ["i/none  w/none  attr/text", autocrlf, "exact"],
  ["i/-text w/-text attr/text=auto", autocrlf, "exact"],
  ["i/-text w/-text attr/text", autocrlf, "unknown"],
  ["i/mixed w/mixed attr/text", off, "unknown"],
  ["i/mixed w/mixed attr/-text", autocrlf, "exact"],
  ["i/      w/lf    attr/text", off, "unknown"],
] as const)("%s: %#", (line, facts, expected) => {
  expect(compared(line, facts)).toBe(expected);
});
