import { expect, test } from "bun:test";
import fc from "fast-check";
import { temporaryDirectory } from "../../test/support/directory.ts";
import { quoted } from "../agents/resume.ts";
import { UserError } from "../base/errors.ts";
import { commandsIn } from "./start-agent.ts";

test("the words of what Backtrail prints", () => {
  expect(commandsIn("claude --resume 1234-ab")).toEqual([["claude", "--resume", "1234-ab"]]);
  expect(commandsIn("cd '/a b/it'\\''s' && copilot --resume=x")).toEqual([
    ["cd", "/a b/it's"],
    ["copilot", "--resume=x"],
  ]);
});

test("a file's content as one word, whatever it holds", () => {
  using place = temporaryDirectory();
  const file = place.write("it's here.md", "one 'two' $(three) && four\n\n");
  expect(commandsIn(`codex "$(cat ${quoted(file)})"`)).toEqual([["codex", "one 'two' $(three) && four"]]);
});

test("whatever words are quoted come back the same", () => {
  const word = fc.string({ minLength: 1 }).filter((text) => !text.includes("\0") && text !== "&&");
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), (words) => {
      expect(commandsIn(words.map(quoted).join(" "))).toEqual([words]);
    }),
  );
});

test("anything else is left for the person", () => {
  for (const command of [
    "a; b",
    "a | b",
    "a $(b)",
    "a `b`",
    "a > b",
    "a && ",
    "&& a",
    'a "b"',
    "a\\ b",
    "a & b",
    "'a",
  ]) {
    expect(() => commandsIn(command)).toThrow(UserError);
  }
});
