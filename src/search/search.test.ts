/** The index as a whole: it finds what reading every text finds, follows transcripts, and survives odd ones. */
import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { ownHome, runs } from "../../test/support/own-process.ts";
import type { Field } from "./index/schema.ts";
import { matchesTerms } from "./query/match.ts";
import { parseQuery } from "./query/parse.ts";
import { Search } from "./search.ts";

ownHome();
process.env["BACKTRAIL_WORKER"] = "off";

const NOW = new Date("2026-11-18T12:00:00Z");
const EVERYTHING = { limit: 10_000, order: "newest", root: null, alive: false } as const;
let sessions = 0;

type Said = { field: Extract<Field, "prompt" | "answer" | "thinking" | "command" | "output">; text: string };

class Transcript {
  readonly session = `${(++sessions).toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
  readonly path = join(process.env["HOME"] ?? "", ".claude/projects/-work", `${this.session}.jsonl`);
  #lines = 0;

  write(...said: Said[]): this {
    mkdirSync(dirname(this.path), { recursive: true });
    appendFileSync(this.path, said.map((one) => this.line(one)).join(""));
    return this;
  }

  line({ field, text }: Said): string {
    const id = `tool${this.#lines}`;
    const blocks = {
      prompt: text,
      answer: [{ type: "text", text }],
      thinking: [{ type: "thinking", thinking: text }],
      command: [{ type: "tool_use", id, name: "", input: { command: text } }],
      output: [{ type: "tool_result", tool_use_id: id, content: text }],
    };
    const role = field === "prompt" || field === "output" ? "user" : "assistant";
    const uuid = `${this.session}-${++this.#lines}`;
    const common = { type: role, uuid, parentUuid: null, isSidechain: false, sessionId: this.session, cwd: "/work" };
    return `${JSON.stringify({ ...common, timestamp: NOW.toISOString(), message: { role, content: blocks[field] } })}\n`;
  }
}

/** A search over these transcripts alone. */
async function searching<T>(
  work: (find: (query: string) => Promise<string[]>, search: Search) => Promise<T>,
): Promise<T> {
  const search = new Search();
  const find = async (query: string) => {
    await search.update({ workspace: undefined });
    const { hits, total } = await search.run(parseQuery(query, NOW), EVERYTHING);
    expect(total).toBe(hits.length);
    return hits.map(({ field, session }) => `${field} ${session.slice(0, 8)}`).sort();
  };
  try {
    return await work(find, search);
  } finally {
    search.close();
    rmSync(join(process.env["HOME"] ?? "", ".claude"), { recursive: true, force: true });
    rmSync(process.env["BACKTRAIL_HOME"] ?? "", { recursive: true, force: true });
  }
}

const word = fc.constantFrom(
  ..."token refresh tokenRefresh token_refresh price price.js 日本 検索 x_axis sha256 Foo( a".split(" "),
);
const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
const field = fc.constantFrom("prompt", "answer", "thinking", "command", "output");
const query = fc
  .array(fc.tuple(fc.constantFrom("", "", "", "-"), word, fc.constantFrom("", "*"), fc.boolean()), {
    minLength: 1,
    maxLength: 3,
  })
  .map((terms) =>
    terms.map(([not, one, star, quoted]) => (quoted ? `${not}"${one}"` : `${not}${one}${star}`)).join(" "),
  );

test("a search finds what reading every text finds, in its field and nowhere else", async () => {
  const said = fc.record({ field, text }) as fc.Arbitrary<Said>;
  await fc.assert(
    fc.asyncProperty(
      fc.array(said, { minLength: 1, maxLength: 12 }),
      fc.array(query, { minLength: 1, maxLength: 6 }),
      (all, queries) =>
        searching(async (find) => {
          const transcript = new Transcript().write(...all);
          for (const one of queries) {
            const { terms } = parseQuery(one, NOW);
            const scanned = all.filter((each) => matchesTerms(each.text, terms));
            expect(await find(one)).toEqual(
              scanned.map((each) => `${each.field} ${transcript.session.slice(0, 8)}`).sort(),
            );
          }
        }),
    ),
    runs(25),
  );
}, 60_000);

test("appended lines are added, a rewritten file replaces its texts, and a deleted file stays found", () =>
  searching(async (find, search) => {
    const transcript = new Transcript().write({ field: "prompt", text: "one" });
    const name = (kind: string) => `${kind} ${transcript.session.slice(0, 8)}`;
    expect(await find("one")).toEqual([name("prompt")]);
    transcript.write({ field: "answer", text: "two" });
    expect([await find("one"), await find("two")]).toEqual([[name("prompt")], [name("answer")]]);
    // A torn last line is read once it is whole.
    const line = transcript.line({ field: "answer", text: "three é" });
    const bytes = Buffer.from(line);
    const half = bytes.indexOf("é") + 1;
    appendFileSync(transcript.path, bytes.subarray(0, half));
    expect(await find("three")).toEqual([]);
    appendFileSync(transcript.path, bytes.subarray(half));
    expect(await find('"three é"')).toEqual([name("answer")]);
    writeFileSync(transcript.path, transcript.line({ field: "prompt", text: "another" }));
    expect([await find("one"), await find("another")]).toEqual([[], [name("prompt")]]);
    rmSync(transcript.path);
    expect(await find("another")).toEqual([name("prompt")]);
    expect(search.index.segments.list().length).toBe(1);
  }));

test(
  "a line of 40 MB, NULs and foreign lines hide nothing else",
  () =>
    searching(async (find) => {
      const transcript = new Transcript().write({ field: "prompt", text: "before" });
      appendFileSync(transcript.path, `${transcript.line({ field: "output", text: "x".repeat(40 << 20) })}`);
      appendFileSync(transcript.path, Buffer.from([0, 0, 10, 0xff, 0xfe, 10]));
      appendFileSync(transcript.path, 'null\n[]\n{"type":"user"}\n{"type":"user","message":{"content":[null,3]}}\n');
      transcript.write({ field: "answer", text: "a\0b after" });
      expect([await find("before"), await find("after")].map((one) => one.length)).toEqual([1, 1]);
    }),
  60_000,
);

test(
  "every needle is found once, in its field, wherever it stands in a long transcript",
  () =>
    searching(async (find) => {
      const transcript = new Transcript();
      const needles: { word: string; field: Said["field"] }[] = [];
      const fillers = ["line of text\n", "word ", "x", "検索", "\0é"];
      for (const [at, filler] of fillers.entries()) {
        for (const field of ["prompt", "answer", "thinking", "command", "output"] as const) {
          // About the size of a block, of a text that is cut, and of a piece of the transcript.
          const texts = [1, 31_000, 33_000, 65_536, 400_000].map((size, index) => {
            const half = filler.repeat(Math.ceil(size / filler.length / 2));
            const words = ["start", "middle", "end"].map((place) => `needle_${place}${at}${field}${index}`);
            for (const word of words) needles.push({ word, field });
            return { field, text: `${words[0]} ${half} ${words[1]} ${half} ${words[2]}` };
          });
          transcript.write(...texts);
        }
      }
      for (const { word, field } of needles)
        expect({ word, found: await find(word) }).toEqual({
          word,
          found: [`${field} ${transcript.session.slice(0, 8)}`],
        });
    }),
  120_000,
);

test("two searches and a rebuild at once agree", () =>
  searching(async (find) => {
    for (let n = 0; n < 20; n++) new Transcript().write({ field: "prompt", text: `needle number${n}` });
    const other = new Search();
    try {
      const [one, two] = await Promise.all([find("needle"), other.update({ workspace: undefined })]);
      expect([one.length, two.busy || two.pending === 0]).toEqual([20, true]);
      const { total } = await other.run(parseQuery("needle", NOW), EVERYTHING);
      expect(total).toBe(20);
    } finally {
      other.close();
    }
  }));

test("a quick look follows a transcript directory that an environment variable moves", async () => {
  const name = "CLAUDE_CONFIG_DIR";
  const before = process.env[name];
  const moved = join(process.env["HOME"] ?? "", "moved");
  const transcript = new Transcript();
  const path = join(moved, "projects/-work", `${transcript.session}.jsonl`);
  const search = new Search();
  const total = async () => {
    await search.catchUp({ workspace: undefined, patience: 60_000 });
    return (await search.run(parseQuery("wanderedaway", NOW), EVERYTHING)).total;
  };
  try {
    await search.update({ workspace: undefined });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, transcript.line({ field: "prompt", text: "wanderedaway" }));
    expect(await total()).toBe(0);
    process.env[name] = moved;
    expect(await total()).toBe(1);
    search.index.setState("transcript roots", "{ torn");
    appendFileSync(path, transcript.line({ field: "answer", text: "wanderedaway too" }));
    expect(await total()).toBe(2);
  } finally {
    search.close();
    rmSync(moved, { recursive: true, force: true });
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  }
});
