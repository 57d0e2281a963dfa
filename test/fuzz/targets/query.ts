/** Search queries: whatever is typed is words or a refused filter, and the index finds no less than the text has. */
import { BaseError } from "../../../src/base/problems.ts";
import { SearchError } from "../../../src/search/problems.ts";
import { matchesTerms } from "../../../src/search/query/match.ts";
import { expressionOf } from "../../../src/search/query/narrow.ts";
import { parseQuery, type Query } from "../../../src/search/query/parse.ts";
import { damaged } from "../mutate.ts";
import { demand, type Target } from "../target.ts";

const NOW = new Date("2026-01-05T10:00:00Z");
const SEEDS = [
  'token refresh -undone "quoted \\" text" tok* price.js std::vector',
  "agent:codex is:undone,kept field:added since:2d before:2026-11-01 cost:>1 cost:<$0.5 file:'*.sql'",
  'NEAR(a b, 3) AND OR NOT "a" + b ^c {x y}: col : "unclosed',
  "検索 日本語の word mixed検索 é́ ﬁ ß İ \ud83d\ude00 -- -> ---",
  `${'"'.repeat(40)} ${"*".repeat(40)} ${"-".repeat(40)} ${"a_B9$".repeat(30)}`,
].map((text) => Buffer.from(text));

export const query: Target = {
  name: "query",
  cost: 8,
  async open() {
    const { openDatabase } = await import("../../../src/search/index/database.ts");
    const { createTables } = await import("../../../src/search/index/schema.ts");
    const { writeRun } = await import("../../../src/search/index/runs.ts");
    const { documentsMatching } = await import("../../../src/search/index/matching.ts");
    const { IDS } = await import("../../../src/search/index/segments.ts");
    const { Postings } = await import("../../../src/search/words/postings.ts");
    const database = openDatabase(":memory:");
    createTables(database);
    const postings = new Postings();
    const texts = SEEDS.map((seed) => seed.toString("utf8"));
    for (const [id, text] of texts.entries()) postings.add(id, Buffer.from(text));
    writeRun(database, 1, postings);
    return {
      close: () => database.close(),
      input: (random) => damaged(random, random.pick(SEEDS), SEEDS),
      async run(input) {
        const parsed = parse(Buffer.from(input).toString("utf8"));
        const expression = parsed ? expressionOf(parsed.terms) : null;
        if (!parsed || expression === null) return;
        const ids = documentsMatching(database, { id: 1, docs: texts.length }, expression);
        const found = new Set(ids.map((one) => one - IDS));
        for (const [id, text] of texts.entries())
          if (matchesTerms(text, parsed.terms)) demand(found.has(id), `The index misses ${JSON.stringify(text)}.`);
      },
    };
  },
};

function parse(text: string): Query | undefined {
  try {
    return parseQuery(text, NOW);
  } catch (error) {
    demand(error instanceof SearchError || error instanceof BaseError, `Refused with ${String(error)}`);
    return undefined;
  }
}
