import { expect, test } from "bun:test";
import { temporaryDirectory } from "../../../test/support/index.ts";
import { promptsIn, readPrompts } from "./prompts.ts";

test("one a line; empty lines are none", () => {
  expect(promptsIn("\uFEFFfirst\r\n\n  second  \n# third\n")).toEqual(["first", "second", "# third"]);
});

test("blocks between lines of ---", () => {
  expect(promptsIn("one\nmore of it\n---\n\n--- \ntwo\n")).toEqual(["one\nmore of it", "two"]);
  expect(promptsIn("a --- b\n----")).toEqual(["a --- b", "----"]);
});

test("unusable prompts are reported", () => {
  using place = temporaryDirectory();
  expect(() => readPrompts(place.at("none"))).toThrow("can't be read (ENOENT)");
  expect(() => readPrompts(place.path)).toThrow("can't be read (EISDIR)");
  expect(() => readPrompts(place.write("empty", "\n---\n"))).toThrow("There is no prompt in");
});
