import { expect, test } from "bun:test";
import { WrittenFiles } from "./written-files.ts";

test("a use counts unless its result says that it failed, or until one comes", () => {
  const files = new WrittenFiles();
  files.addUse("open", ["open.ts"]);
  files.addUse("failed", ["failed.ts"]);
  files.addUse("done", ["a.ts", "b.ts"]);
  files.addResult("failed", true);
  files.addResult("done", false);
  expect(files.list()).toEqual(["a.ts", "b.ts", "open.ts"]);
});

test("a result tells the files of a use that was not seen, and only of such a one", () => {
  const files = new WrittenFiles();
  files.addUse("seen", ["a.ts"]);
  files.addResult("seen", false, ["other.ts"]);
  files.addResult("before", false, ["before.ts"]);
  files.addResult("failed", true, ["failed.ts"]);
  expect(files.list()).toEqual(["a.ts", "before.ts"]);
});

test("a file is listed once", () => {
  const files = new WrittenFiles();
  files.addUse("1", ["a.ts"]);
  files.addResult("1", false);
  files.addUse("2", ["a.ts"]);
  expect(files.list()).toEqual(["a.ts"]);
});
