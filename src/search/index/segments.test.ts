/** Whatever is added, removed and rolled back: the index finds what reading the texts that are left finds. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { temporaryDirectory } from "../../../test/support/index.ts";
import { matchesTerms } from "../query/match.ts";
import { noFilters, parseQuery } from "../query/parse.ts";
import { Candidates } from "../results/candidates.ts";
import type { NewDocument } from "./documents.ts";
import { openIndex } from "./open.ts";
import { FIELDS } from "./schema.ts";
import { SearchIndex } from "./store.ts";

const NOW = new Date("2026-11-18T12:00:00Z");
/** So small that a few conversations fill several. */
const SEGMENT_BYTES = 3_000;
const CONVERSATION = {
  ...{ agent: "claude-code", part: "", repository: null, store: null, origin: "", size: 0, modified: 0, offset: 0 },
  ...{ generation: 0, mark: "", turns: 0, title: null, model: null },
};

interface Said {
  conversation: number;
  field: number;
  text: string;
}

class Model {
  readonly path: string;
  index: SearchIndex;
  said: Said[] = [];

  constructor(path: string) {
    this.path = path;
    this.index = this.#open();
  }

  #open(): SearchIndex {
    return new SearchIndex(openIndex(this.path), SEGMENT_BYTES);
  }

  reopen(): void {
    this.index.endBatch();
    this.index.close();
    this.index = this.#open();
  }

  idOf(conversation: number): number {
    return this.index.save({ ...CONVERSATION, session: `s${conversation}` });
  }

  add(said: readonly Said[]): void {
    this.index.transaction(() => {
      for (const { conversation, field, text } of said) {
        const document: NewDocument = { field: FIELDS[field] ?? "output", time: 0, turn: 1, position: 0, text };
        this.index.add(this.idOf(conversation), document);
      }
    });
    this.said.push(...said);
  }

  /** What a batch has written so far is lost with it. */
  fail(said: readonly Said[], before: readonly Said[]): void {
    expect(() =>
      this.index.transaction(() => {
        for (const { conversation, text } of said)
          this.index.add(this.idOf(conversation), { field: "output", time: 0, turn: 1, position: 0, text });
        throw new Error("stopped");
      }),
    ).toThrow("stopped");
    this.said = [...before];
  }

  remove(conversation: number): void {
    this.index.transaction(() => this.index.removeConversation(this.idOf(conversation)));
    this.said = this.said.filter((one) => one.conversation !== conversation);
  }

  remake(): void {
    for (const segment of this.index.segments.withRemoved(false))
      this.index.transaction(() => this.index.segments.remake(segment));
  }

  find(query: string): string[] {
    const { terms } = parseQuery(query, NOW);
    const candidates = new Candidates(this.index, { terms, filters: noFilters() }, null).newest(null);
    return candidates
      .map((one) => ({ field: FIELDS.indexOf(one.field), text: this.index.textOf(one), of: one.conversation }))
      .filter(({ text }) => matchesTerms(text, terms))
      .map(({ field, text, of }) => `${this.index.conversation(of)?.session} ${field} ${text}`)
      .sort();
  }

  scan(query: string): string[] {
    const { terms } = parseQuery(query, NOW);
    const matching = this.said.filter(({ text }) => matchesTerms(text, terms));
    return matching.map(({ conversation, field, text }) => `s${conversation} ${field} ${text}`).sort();
  }
}

const word = fc.constantFrom(
  ..."token refresh tokenRefresh token_refresh HTTP2Server price.js 日本語 検索 x_axis sha256 Foo( naïve a of of of".split(
    " ",
  ),
);
const text = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 8 }), fc.constantFrom(1, 1, 1, 40))
  .map(([words, times]) => `${words.join(" ")} `.repeat(times).trim());
const said = fc.array(fc.record({ conversation: fc.nat(5), field: fc.nat(FIELDS.length - 1), text }), {
  minLength: 1,
  maxLength: 8,
});
const deed = fc.oneof(
  { weight: 6, arbitrary: said.map((some) => (model: Model) => model.add(some)) },
  { weight: 2, arbitrary: fc.nat(5).map((conversation) => (model: Model) => model.remove(conversation)) },
  { weight: 1, arbitrary: fc.constant((model: Model) => model.remake()) },
  { weight: 1, arbitrary: fc.constant((model: Model) => model.reopen()) },
  { weight: 1, arbitrary: said.map((some) => (model: Model) => model.fail(some, model.said)) },
);
const query = fc
  .array(fc.tuple(fc.constantFrom("", "", "-"), word, fc.constantFrom("", "*"), fc.boolean()), {
    minLength: 1,
    maxLength: 3,
  })
  .map((terms) =>
    terms.map(([not, one, star, quoted]) => (quoted ? `${not}"${one}"` : `${not}${one}${star}`)).join(" "),
  );

test("an index of several segments finds what reading every text finds, after any additions and removals", () => {
  let most = 0;
  fc.assert(
    fc.property(
      fc.array(deed, { minLength: 1, maxLength: 25 }),
      fc.array(query, { minLength: 1, maxLength: 8 }),
      (deeds, queries) => {
        using place = temporaryDirectory();
        const model = new Model(`${place.path}/index.db`);
        for (const one of deeds) one(model);
        most = Math.max(most, model.index.segments.list().length);
        for (const one of queries) expect(model.find(one)).toEqual(model.scan(one));
        model.remake();
        expect(model.index.segments.withRemoved(false)).toEqual([]);
        for (const one of queries) expect(model.find(one)).toEqual(model.scan(one));
        model.index.close();
      },
    ),
    { numRuns: 60 },
  );
  expect(most).toBeGreaterThan(3);
}, 120_000);

test("a failed batch keeps the earlier batches, and the next batch is complete", () => {
  using place = temporaryDirectory();
  const model = new Model(`${place.path}/index.db`);
  const one = (text: string) => [{ conversation: 1, field: 0, text }];
  model.add(one("first needle"));
  const before = [...model.said];
  model.index.beginBatch();
  model.add(one("second needle"));
  model.fail(one("third needle"), before);
  model.add(one("fourth needle"));
  model.reopen();
  expect(model.find("needle")).toEqual(model.scan("needle"));
  expect(model.find("needle")).toHaveLength(2);
  model.index.close();
});

test("a needle is found wherever a long text is cut", () => {
  using place = temporaryDirectory();
  const model = new Model(`${place.path}/index.db`);
  const CUT = 32 << 10;
  const texts: string[] = [];
  // Around the place where a text is cut: in a long line, at a line's end, after letters of several bytes and halves.
  for (const filler of ["x ", "abcdefghi ", "line\n", "é ", "検索、", "😀 "]) {
    for (let shift = -20; shift <= 4; shift++) {
      const before = filler.repeat(Math.ceil((CUT + shift) / filler.length)).slice(0, CUT + shift);
      texts.push(`${before} cutNeedle_${texts.length}z ${filler.repeat(9_000)} 終端${texts.length}q`);
    }
  }
  model.index.transaction(() => {
    for (const text of texts)
      model.index.add(model.idOf(1), { field: "output", time: 0, turn: 1, position: 0, text: text.toWellFormed() });
  });
  for (const number of texts.keys()) {
    for (const wanted of [`cutNeedle_${number}z`, `"cutNeedle_${number}z"`, `終端${number}q`])
      expect({ wanted, found: model.find(wanted).length }).toEqual({ wanted, found: 1 });
  }
  model.index.close();
}, 60_000);
