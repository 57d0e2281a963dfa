import { expect, test } from "bun:test";
import fc from "fast-check";
import { familyOf, highlight } from "./highlight.ts";

const kinds = (text: string, path: string) =>
  highlight(text, familyOf(path)).flatMap(([kind, part]) => (kind === "plain" ? [] : [`${kind}:${part}`]));

test("a family has its comments, strings, numbers and keywords", () => {
  expect(kinds('const a = "b" + call(12); // why', "x.ts")).toEqual([
    "keyword:const",
    'string:"b"',
    "function:call",
    "number:12",
    "comment:// why",
  ]);
  expect(kinds("  * goes on", "x.java")).toEqual(["comment:  * goes on"]);
  expect(kinds("def f(x): # note", "a/b.py")).toEqual(["keyword:def", "function:f", "comment:# note"]);
  expect(kinds('"name": "x", "n": 1', "package.json")).toEqual(['key:"name"', 'string:"x"', 'key:"n"', "number:1"]);
  expect(kinds('<a href="x">', "x.html")).toEqual(["tag:<a", 'string:"x"', "tag:>"]);
  expect(kinds("SELECT 1 -- one", "q.sql")).toEqual(["keyword:SELECT", "number:1", "comment:-- one"]);
});

test("the tokens of any line are the line", () => {
  const paths = ["a.ts", "a.py", "a.sql", "a.css", "a.json", "a.html", "a.unknown"];
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom(...paths), (text, path) => {
      const tokens = highlight(text, familyOf(path));
      return tokens.map(([, part]) => part).join("") === text;
    }),
  );
});
