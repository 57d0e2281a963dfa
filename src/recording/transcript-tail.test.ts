import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { temporaryDirectory } from "../../test/support/index.ts";
import { runs } from "../../test/support/own-process.ts";
import type { TranscriptAnalyzer } from "../agents/contract/agent.ts";
import { emptySlice } from "../model/conversation.ts";
import { NO_TOKENS } from "../model/tokens.ts";
import { isWholeDocument } from "../transcripts/lines.ts";
import { relativePaths } from "./relative-paths.ts";
import type { StoredTranscript } from "./session/store.ts";
import { readTail, readWhole } from "./transcript-tail.ts";

function text(tail: ReturnType<typeof readTail>): string {
  return Buffer.concat(tail?.segments.map((segment) => segment.data) ?? []).toString();
}

test("only new bytes are read, and a partial line waits", () => {
  using place = temporaryDirectory();
  const path = place.write("t.jsonl", "one\ntwo\n");
  const first = readTail(path, null, 0, undefined);
  expect([text(first), first?.stored.stored, first?.rewritten]).toEqual(["one\ntwo\n", 8, false]);
  appendFileSync(path, "three\nfo");
  const second = readTail(path, first?.stored ?? null, 8, undefined);
  expect([text(second), second?.segments[0]?.offset, second?.stored.stored]).toEqual(["three\n", 8, 14]);
  const third = readTail(path, second?.stored ?? null, 8, undefined);
  expect([third?.segments, third?.stored]).toEqual([[], second?.stored]);
  appendFileSync(path, "ur\n");
  expect(text(readTail(path, third?.stored ?? null, 8, undefined))).toBe("four\n");
});

test("a transcript that shrank, was rewritten or replaced begins a new generation, whole", () => {
  using place = temporaryDirectory();
  const path = place.write("t.jsonl", "one\ntwo\n");
  const { stored } = readTail(path, null, 0, undefined) ?? {};
  for (const content of ["one\n", "eins\nzwei\ndrei\n", "ONE\nTWO\n"]) {
    writeFileSync(path, content);
    const tail = readTail(path, stored ?? null, 8, undefined);
    expect([text(tail), tail?.rewritten, tail?.stored.generation]).toEqual([content, true, 1]);
  }
  const other = place.write("other.jsonl", "one\ntwo\n");
  expect(readTail(other, stored ?? null, 0, undefined)?.stored.generation).toBe(1);
});

test("a document is taken whole, without a line end and however often it is rewritten; half of one waits", () => {
  using place = temporaryDirectory();
  const path = place.at("t.json");
  let known: StoredTranscript | null = null;
  const analyzer = { isWhole: isWholeDocument } as TranscriptAnalyzer;
  analyzer.readSlice = () => null as never;
  const documents = ['{"messages":[1]}', '{\n  "messages": [\n    1,\n    2\n  ]\n}', "[\n1,\n2,\n3\n]\n"];
  for (const [generation, content] of documents.entries()) {
    writeFileSync(path, content);
    const tail = readTail(path, known, known?.stored ?? 0, analyzer);
    expect([text(tail), tail?.stored.generation]).toEqual([content, generation]);
    known = tail?.stored ?? null;
    expect(readTail(path, known, 0, analyzer)?.segments).toEqual([]);
  }
  writeFileSync(path, '{"messages":[1');
  expect(text(readTail(path, null, 0, analyzer))).toBe("");
});

test("over any appends and cuts, each generation's segments are the file at its last complete line", () => {
  using place = temporaryDirectory();
  const path = place.at("t.jsonl");
  const piece = fc.constantFrom("a\n", "bb\n", "torn", "\n", "x".repeat(300));
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, fc.boolean(), fc.boolean()), { maxLength: 12 }), (pieces) => {
      let content = "";
      let known: StoredTranscript | null = null;
      const stored = new Map<number, string>();
      for (const [added, cut, look] of pieces) {
        content = cut ? added : content + added;
        writeFileSync(path, content);
        if (!look) continue;
        const tail = readTail(path, known, known?.stored ?? 0, undefined);
        known = tail?.stored ?? null;
        const generation = known?.generation ?? 0;
        expect(tail?.segments.every((segment) => segment.generation === generation)).toBe(true);
        stored.set(generation, (stored.get(generation) ?? "") + text(tail));
      }
      const last = stored.get(known?.generation ?? 0) ?? "";
      expect(last.length).toBe(known?.stored ?? 0);
      expect(last === "" || last.endsWith("\n")).toBe(true);
    }),
    runs(100),
  );
});

test("no file, a directory, a pipe: nothing is waited for", () => {
  using place = temporaryDirectory();
  expect(readTail(place.at("none"), null, 0, undefined)).toBeUndefined();
  expect(readTail(place.at("none", "below"), null, 0, undefined)).toBeUndefined();
  execFileSync("mkfifo", [place.at("pipe")]);
  for (const path of [place.at("pipe"), place.path])
    expect(() => readTail(path, null, 0, undefined)).toThrow("regular");
  place.write("large", "x".repeat(100));
  expect(readWhole(place.at("large"), 50)).toBeUndefined();
  place.write("torn", "one\ntw");
  expect(readWhole(place.at("torn"), 50)?.toString()).toBe("one\n");
});

test("paths of an agent's become paths from the root, or nothing", () => {
  using place = temporaryDirectory();
  place.write("real/dir/file", "x");
  execFileSync("ln", ["-s", "real", place.at("link")]);
  const root = place.at("real");
  expect(relativePaths(root, root, ["a", "./b/../c", "/etc/passwd", "../x", "..hidden", ".", `${root}/d`])).toEqual([
    "a",
    "c",
    "..hidden",
    "d",
  ]);
  expect(relativePaths(root, place.at("link"), [place.at("link/dir/file"), "dir/new"])).toEqual([
    "dir/file",
    "dir/new",
  ]);
});

test("of a document that is written again, a turn is what follows the entry before it, at every look", () => {
  using place = temporaryDirectory();
  const analyzer: TranscriptAnalyzer = {
    isWhole: (bytes) => isWholeDocument(Buffer.from(bytes)),
    read: () => ({ entries: [], title: null, model: null, tokens: { ...NO_TOKENS } }),
    readSlice: (bytes, offset, after = null) => {
      const ids: string[] = bytes.length === 0 ? [] : JSON.parse(Buffer.from(bytes).toString());
      const since = ids.slice(after === null ? 0 : ids.indexOf(after) + 1);
      return { ...emptySlice(offset + bytes.length), prompts: since, lastId: ids.at(-1) ?? null };
    },
  };
  const path = place.write("t.json", JSON.stringify(["a", "b"]));
  const first = readTail(path, null, 0, analyzer);
  writeFileSync(path, JSON.stringify(["a", "b", "c"]));
  const from = first?.stored.stored ?? 0;
  const second = readTail(path, first?.stored ?? null, from, analyzer, "b");
  const again = readTail(path, second?.stored ?? null, from, analyzer, "b");
  expect([first, second, again].map((tail) => tail?.slice?.prompts)).toEqual([["a", "b"], ["c"], ["c"]]);
  expect(again?.segments).toEqual([]);
});
