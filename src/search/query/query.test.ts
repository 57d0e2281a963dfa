import { expect, test } from "bun:test";
import fc from "fast-check";
import { openDatabase } from "../index/database.ts";
import { documentsMatching } from "../index/matching.ts";
import { writeRun } from "../index/runs.ts";
import { createTables } from "../index/schema.ts";
import { IDS } from "../index/segments.ts";
import { Postings } from "../words/postings.ts";
import { hasTerm, matchesTerms, rangesOf } from "./match.ts";
import { areExact, type Expression, expressionOf } from "./narrow.ts";
import { literal, parseQuery, type Term } from "./parse.ts";

const NOW = new Date("2026-11-18T12:00:00Z");
const terms = (text: string) => parseQuery(text, NOW).terms;

test("words, prefixes, quoted text and exclusions", () => {
  expect(terms('refresh tok* "a b" -old price.js -"not this"')).toEqual([
    { kind: "word", text: "refresh", excluded: false },
    { kind: "prefix", text: "tok", excluded: false },
    { kind: "literal", text: "a b", excluded: false },
    { kind: "word", text: "old", excluded: true },
    { kind: "phrase", text: "price.js", excluded: false },
    { kind: "literal", text: "not this", excluded: true },
  ]);
});

test("the syntax of other searches is text", () => {
  const words = terms("NEAR(a b) AND OR std::vector -> --flag https://a.b a^2 {x} ' \\");
  expect(words.map(({ text, excluded }) => [text, excluded]).filter(([, excluded]) => excluded)).toEqual([]);
  expect(words.map(({ text }) => text)).toContain("std::vector");
});

test("filters", () => {
  const { filters, terms: words } = parseQuery(
    'agent:codex repo:shop field:added,removed is:undone since:2026-11-01 cost:>1.5 file:"a b.ts" fix',
    NOW,
  );
  expect(words.map(({ text }) => text)).toEqual(["fix"]);
  expect(filters).toMatchObject({
    agents: ["codex"],
    repositories: ["shop"],
    fields: ["added", "removed"],
    states: ["undone"],
    files: ["a b.ts"],
    cost: { over: 1.5, under: null },
  });
  expect(() => parseQuery("is:undoen", NOW)).toThrow("is:undoen is not a filter.");
  expect(() => parseQuery("field:x", NOW)).toThrow();
  expect(() => parseQuery("cost:lots", NOW)).toThrow();
});

test.each([
  ["price.js", "open price.js now", true],
  ["price.js", "price.json", false],
  ["price.js", "PRICE.JS", true],
  ['"foo("', "call foo(x)", true],
  ['"Foo("', "call foo(x)", false],
  ['"refresh("', "tokenRefresh(1)", true],
  ['"efresh("', "tokenRefresh(1)", false],
  ['"token ref"', "the token refresh", true],
  ["検索", "全文検索の", true],
  ["検", "全文検索", true],
  ['"文検索"', "全文検索", true],
])("%s in %s: %p", (query, text, expected) => {
  expect(matchesTerms(text, terms(query))).toBe(expected);
});

test("ranges mark whole words", () => {
  const text = "a tokenRefresh b";
  const [term] = terms("refresh") as [Term];
  expect([...rangesOf(text, term)].map(({ start, end }) => text.slice(start, end))).toEqual(["tokenRefresh"]);
});

test("any input parses, or is refused as a filter", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[ "\\:a-z*-]{0,30}$/)), (text) => {
      try {
        const query = parseQuery(text, NOW);
        expressionOf(query.terms);
        for (const term of query.terms) hasTerm(text, term);
      } catch (error) {
        expect((error as Error).name).toBe("UserError");
      }
    }),
    { numRuns: 1_000 },
  );
});

/** Texts that share words with queries, in all the ways in which words are written together. */
const piece = fc.constantFrom(..."foo bar Bar BAR x HTML Parser sha256 42 é ß Σ 日本 語 _ $ a".split(" "));
const glue = fc.constantFrom("", "", "_", " ", " ", ".", "(", "-", "\n", "/");
const text = fc.array(fc.tuple(piece, glue), { maxLength: 8 }).map((parts) => parts.flat().join(""));
const anyTerm = fc.oneof(
  text.map((one) => literal(one)),
  text.map((one) => literal(one.slice(1, -1))),
  text.map((one) => terms(one.replaceAll(/[\s"]/g, ""))[0]),
  text.map((one) => terms(`${one.replaceAll(/[\s"*]/g, "")}*`)[0]),
);

/** The rows that the index finds, if it writes a run after every so many texts. */
function indexed(texts: readonly string[], perRun: number, expression: Expression): number[] {
  const database = openDatabase(":memory:");
  createTables(database);
  const postings = new Postings();
  for (const [row, one] of texts.entries()) {
    postings.add(row, Buffer.from(one.toWellFormed()));
    if (row % perRun === perRun - 1) writeRun(database, 1, postings);
  }
  writeRun(database, 1, postings);
  const found = documentsMatching(database, { id: 1, docs: texts.length }, expression).map((id) => id - IDS);
  database.close();
  return found;
}

test("the index finds what reading every text finds, in any number of runs", () => {
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 12 }),
      fc.array(anyTerm, { maxLength: 3 }),
      fc.nat(1),
      fc.integer({ min: 1, max: 12 }),
      (texts, some, not, runs) => {
        const wanted = some.flatMap((term, index) =>
          term && term.text !== "" ? [{ ...term, excluded: index > 0 && not === 1 }] : [],
        );
        const expression = expressionOf(wanted);
        const rows = expression === null ? texts.map((_, row) => row) : indexed(texts, runs, expression);
        const scanned = texts.flatMap((one, row) => (matchesTerms(one, wanted) ? [row] : []));
        const found = rows.filter((row) => matchesTerms(texts[row] ?? "", wanted));
        expect(found).toEqual(scanned);
        if (expression !== null && areExact(wanted)) expect(rows).toEqual(scanned);
      },
    ),
    { numRuns: 500 },
  );
});
