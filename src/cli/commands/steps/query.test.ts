import { expect, test } from "bun:test";
import { temporaryDirectory } from "../../../../test/support/directory.ts";
import { pathMatcher } from "../../../base/fs/glob.ts";
import { patternFor } from "./query.ts";

function matches(root: string, cwd: string, text: string): (path: string) => boolean {
  return pathMatcher([patternFor({ root }, text, cwd)]);
}

test("paths are relative to the current directory, and patterns match below it", async () => {
  using directory = temporaryDirectory();
  const root = directory.path;
  directory.write("src/cart.ts", "");
  directory.write("src/[id].ts", "");
  const from = (cwd: string, text: string) => matches(root, cwd, text);
  const src = directory.at("src");

  expect(["cart.ts", "src/cart.ts"].map(from(root, "cart.ts"))).toEqual([true, false]);
  expect(["cart.ts", "src/cart.ts"].map(from(src, "cart.ts"))).toEqual([false, true]);
  expect(["cart.ts", "src/cart.ts"].map(from(src, "../cart.ts"))).toEqual([true, false]);
  expect(["a.ts", "src/a.ts", "src/deep/a.ts"].map(from(src, "*.ts"))).toEqual([false, true, true]);
  expect(["src/a.ts", "src/deep/a.ts"].map(from(root, "src/*.ts"))).toEqual([true, false]);
  expect(["src/cart.ts", "srcs/a"].map(from(root, "src"))).toEqual([true, false]);
  expect(["src/cart.ts", "a"].map(from(root, "."))).toEqual([true, true]);
  // A file with that name is there, so the brackets are part of it.
  expect(["src/[id].ts", "src/i.ts"].map(from(src, "[id].ts"))).toEqual([true, false]);
  expect(() => from(root, "../elsewhere")).toThrow("is not in this work tree");
});
