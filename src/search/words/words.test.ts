import { expect, test } from "bun:test";
import fc from "fast-check";
import { matchesPrefix, matchesWord, wordMatches } from "./match.ts";
import { Postings } from "./postings.ts";
import { fold, MAX_WORD, piecesOf, tokensOf, tokensOfWord, wordSpans } from "./split.ts";
import { TokenTable } from "./token-table.ts";

test.each([
  ["tokenRefreshSession", ["tokenrefreshsession", "token", "refresh", "session"]],
  ["token_refresh", ["token_refresh", "token", "refresh"]],
  ["HTMLParser", ["htmlparser", "html", "parser"]],
  ["parseHTTP2Response", ["parsehttp2response", "parse", "http2", "http", "response"]],
  ["sha256", ["sha256", "sha", "256"]],
  ["$scope", ["$scope", "scope"]],
  ["plain", ["plain"]],
  ["MAX_SIZE", ["max_size", "max", "size"]],
  ["x_axis", ["x_axis", "axis"]],
  ["Ünïted", ["united"]],
  ["3f2a9b1c", ["3f2a9b1c"]],
])("%s is indexed as a whole and by its pieces", (word, tokens) => {
  expect(tokensOfWord(word)).toEqual(tokens);
});

test("paths, dotted names and kebab-case are separate words", () => {
  expect([...tokensOf("src/user-store.test.ts: db.query()")]).toEqual([
    ...["src", "user", "store", "test", "ts", "db", "query"],
  ]);
});

test("text without spaces is indexed by pairs of letters", () => {
  expect([...tokensOf("検索の index")]).toEqual(["検索", "索の", "の", "index"]);
  expect([...tokensOf("한국어𠀀𠀁")]).toEqual(["한국", "국어", "어𠀀", "𠀀𠀁", "𠀁"]);
});

test("a long run of characters is cut, and has no pieces", () => {
  const long = "aB".repeat(60);
  expect([...tokensOf(long)]).toEqual(["ab".repeat(60).slice(0, MAX_WORD)]);
  expect(piecesOf("aB".repeat(MAX_WORD))).toEqual([]);
});

test.each([
  ["refresh", "tokenRefreshSession", true],
  ["REFRESH", "token_refresh", true],
  ["tokenRefresh", "my_token_refresh_now", true],
  ["token_refresh", "tokenRefreshSession", true],
  ["tokenrefresh", "tokenRefresh", true],
  ["tokenSession", "tokenRefreshSession", false],
  ["fresh", "tokenRefresh", false],
  ["sha", "sha256", true],
  ["resume", "résumé", true],
])("%s matches %s: %p", (wanted, word, expected) => {
  expect(matchesWord(wanted, word)).toBe(expected);
});

test("a prefix matches the beginning of a word or piece", () => {
  expect([matchesPrefix("ref", "tokenRefresh"), matchesPrefix("fresh", "tokenRefresh")]).toEqual([true, false]);
});

const anyText = fc.string({ unit: "binary", maxLength: 200 });
const identifier = fc
  .array(fc.stringMatching(/^[a-z]{2,6}$/), { minLength: 1, maxLength: 4 })
  .map((pieces) => ({ pieces, snake: pieces.join("_"), camel: pieces.map(capitalized).join("") }));

function capitalized(piece: string): string {
  return piece.slice(0, 1).toUpperCase() + piece.slice(1);
}

test("an identifier is found by each of its pieces, in either style", () => {
  fc.assert(
    fc.property(identifier, ({ pieces, snake, camel }) => {
      for (const piece of pieces) for (const word of [snake, camel]) expect(matchesWord(piece, word)).toBe(true);
      expect(matchesWord(snake, camel) && matchesWord(camel, snake)).toBe(true);
    }),
  );
});

test("every word of any text matches itself, and its tokens are among the text's", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const all = tokensOf(text);
      for (const { start, end, cjk } of wordSpans(text)) {
        const word = text.slice(start, end);
        expect([...wordMatches(text, word)].some((match) => match.start <= start)).toBe(true);
        if (!cjk) for (const token of tokensOfWord(word.slice(0, MAX_WORD + 1))) expect(all.has(token)).toBe(true);
      }
    }),
  );
});

test("tokens hold no separator of the index, and folding is stable", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const token of tokensOf(text)) {
        expect(token).toMatch(/^(?:[a-z0-9_$]|\P{ASCII})+$/u);
      }
      expect(fold(fold(text))).toBe(fold(text));
    }),
  );
});

const tokensIn = (table: TokenTable, text: string) =>
  [...table.tokensOf(Buffer.from(text))]
    .map((number) => Buffer.from(table.bytes).toString("utf8", table.startOf(number), table.endOf(number)))
    .join(" ");

test("the table finds the same tokens, in any order of texts", () => {
  const table = new TokenTable();
  const word = fc.oneof(
    fc.stringMatching(/^[a-zA-Z_0-9$]{0,12}$/),
    fc.constantFrom("aB".repeat(50), "x".repeat(64), "x".repeat(65), "日本語", "é", "…", "aé_Bc"),
  );
  const text = fc.oneof(
    anyText,
    fc.array(word, { maxLength: 20 }).chain((words) => fc.constantFrom(" ", "-", "").map((sign) => words.join(sign))),
  );
  fc.assert(
    fc.property(text, (one) => {
      const whole = one.toWellFormed();
      expect(tokensIn(table, whole)).toBe([...tokensOf(whole)].join(" "));
    }),
    { numRuns: 1_000 },
  );
});

test("postings have every token with its documents in the order of bytes, also after they were full", () => {
  const postings = new Postings();
  const letters = (number: number) => [...String(number)].map((digit) => "abcdefghij"[Number(digit)]).join("");
  const words = Array.from({ length: 70_000 }, (_, number) => letters(number).padStart(60, "x"));
  let rounds = 0;
  for (let round = 0; round < 4; round++) {
    postings.add(7, Buffer.from(`${words.join(" ")} same é 日本`));
    if (postings.isFull) rounds++;
    postings.add(9, Buffer.from(`same${round} same sam`));
    const found: [string, number[]][] = [];
    const text = new TextDecoder();
    postings.each(({ bytes, start, end }, documents) =>
      found.push([
        text.decode(bytes.subarray(start, end)),
        [...documents.numbers.subarray(documents.start, documents.end)],
      ]),
    );
    const expected = new Map(words.map((word) => [word, [7]]));
    for (const [token, documents] of Object.entries({ same: [7, 9], e: [7], 日本: [7], 本: [7], sam: [9] }))
      expected.set(token, documents);
    expected.set(`same${round}`, [9]);
    const sorted = [...expected].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(Bun.deepEquals(found, sorted)).toBe(true);
    postings.clear();
    expect(postings.isEmpty).toBe(true);
  }
  expect(rounds).toBeGreaterThan(0);
}, 30_000);
