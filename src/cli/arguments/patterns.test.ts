/** Patterns given in a subdirectory mean files below it. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../test/support/index.ts";
import { pathMatcher } from "../../base/fs/glob.ts";
import { patternsFromRoot } from "./patterns.ts";

test.each([
  ["", ["src/**"], ["src/a.ts", "src/lib/b.ts"], ["a.ts", "lib/src/a.ts"]],
  ["", ["a.ts"], ["a.ts", "src/a.ts"], ["b.ts"]],
  ["", ["./a.ts"], ["a.ts"], ["src/a.ts"]],
  ["src", ["a.ts"], ["src/a.ts", "src/lib/a.ts"], ["a.ts", "lib/a.ts"]],
  ["src", ["./a.ts"], ["src/a.ts"], ["a.ts", "src/lib/a.ts"]],
  ["src", ["lib/**"], ["src/lib/a.ts"], ["lib/a.ts"]],
  ["src", ["lib/"], ["src/lib/a.ts"], ["lib/a.ts"]],
  ["src", ["."], ["src/a.ts", "src/lib/a.ts"], ["a.ts"]],
  ["src/lib", ["../a.ts"], ["src/a.ts"], ["a.ts", "src/lib/a.ts"]],
  ["src/lib", [".."], ["src/a.ts", "src/lib/a.ts"], ["a.ts"]],
  ["src", ["../"], ["a.ts", "src/a.ts"], []],
  ["src", ["/a.ts"], ["a.ts"], ["src/a.ts"]],
  ["pages/[id]", ["a.ts"], ["pages/[id]/a.ts"], ["pages/i/a.ts"]],
  ["pages/[id]", ["./a.ts"], ["pages/[id]/a.ts"], ["pages/i/a.ts"]],
] as const)("in %p, %p", (directory, patterns, matched, others) => {
  using root = temporaryDirectory();
  mkdirSync(join(root.path, directory), { recursive: true });
  const matches = pathMatcher(patternsFromRoot({ root: root.path }, join(root.path, directory), patterns) ?? []);
  expect(matched.filter((path) => !matches(path))).toEqual([]);
  expect(others.filter(matches)).toEqual([]);
});

test("absolute paths are taken as they are, and paths outside of the work tree match nothing", () => {
  using root = temporaryDirectory();
  mkdirSync(join(root.path, "src"));
  const [pattern = ""] = patternsFromRoot({ root: root.path }, join(root.path, "src"), [join(root.path, "b.ts")]) ?? [];
  expect(pathMatcher([pattern])("b.ts")).toBe(true);
  expect(() => patternsFromRoot({ root: root.path }, join(root.path, "src"), ["../../x"])).toThrow("is outside of");
});
