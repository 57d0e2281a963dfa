/** The words of shared texts: the quick way for ASCII finds what the general one finds. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { searchQuery, searchVector } from "../../src/hub/ingest/words.ts";
import { tokensOf } from "../../src/search/words/split.ts";

const words = (vector: string) => new Set(vector.split(" ").filter((word) => word !== ""));

test("an ASCII text has the same words as in the search on one machine", () => {
  const part = fc.constantFrom(
    "parseConfig",
    "HTML2Text",
    "snake_case",
    "$el",
    "a".repeat(70),
    "x",
    "42",
    "'",
    "\\",
    "-",
    ".",
    " ",
    "\n",
  );
  const text = fc.array(fc.oneof(part, fc.string({ maxLength: 8 })), { maxLength: 30 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (given) => {
      const ascii = given.replace(/\P{ASCII}/gu, "");
      expect(words(searchVector(ascii))).toEqual(new Set(tokensOf(ascii)));
    }),
  );
});

test("other scripts are split by their own rules, and their words are quoted", () => {
  expect(words(searchVector("Straße naïve"))).toEqual(new Set(["'straße'", "naive"]));
  expect(searchVector("日本語")).toContain("'日本'");
});

test("a star after a word asks for its beginning", () => {
  expect(searchQuery("parse conf*")).toBe("'parse' & 'conf':*");
  expect(searchQuery("it's* *x y* O'Neil*")).toBe("'it' & 's' & 'x' & 'y' & 'o' & 'neil':*");
  expect(searchQuery("*")).toBe(null);
});
