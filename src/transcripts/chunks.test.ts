import { expect, test } from "bun:test";
import fc from "fast-check";
import { chunkName, chunkNames, joinLines, splitLines } from "./chunks.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const texts = (chunks: Uint8Array[]) => chunks.map((chunk) => new TextDecoder().decode(chunk));

test("cuts at line ends", () => {
  expect(texts(splitLines(bytes("aa\nbb\ncc\n"), 6))).toEqual(["aa\nbb\n", "cc\n"]);
  expect(texts(splitLines(bytes("aa\nbb\ncc"), 6))).toEqual(["aa\nbb\n", "cc"]);
  expect(texts(splitLines(bytes("aa\nbb\n"), 100))).toEqual(["aa\nbb\n"]);
  expect(splitLines(bytes(""), 6)).toEqual([]);
});

test("a line beyond the limit is not broken", () => {
  expect(texts(splitLines(bytes("a\nlonger than six\nb\n"), 6))).toEqual(["a\n", "longer than six\n", "b\n"]);
});

test("chunks that were written without their last newline are joined as lines", () => {
  expect(Buffer.from(joinLines([bytes("a"), bytes("b\n"), bytes("c")])).toString()).toBe("a\nb\nc");
});

test("splitting and joining gives back every byte", () => {
  const line = fc.uint8Array({ maxLength: 40 });
  const content = fc
    .array(line, { maxLength: 30 })
    .map((lines) => Buffer.concat(lines.flatMap((l) => [l, bytes("\n")])));
  const maybeTorn = fc.tuple(content, fc.uint8Array({ maxLength: 10 })).map((parts) => Buffer.concat(parts));
  fc.assert(
    fc.property(maybeTorn, fc.integer({ min: 1, max: 64 }), (original, limit) => {
      const chunks = splitLines(original, limit);
      expect(Buffer.from(joinLines(chunks)).equals(original)).toBe(true);
      for (const chunk of chunks) {
        const isOneLine = Buffer.from(chunk).indexOf(10) === chunk.length - 1 || !chunk.includes(10);
        expect(chunk.length > 0 && (chunk.length <= limit || isOneLine)).toBe(true);
      }
      for (const chunk of chunks.slice(0, -1)) expect(chunk.at(-1)).toBe(10);
    }),
  );
});

test("names are numbered and found in order, up to a gap", () => {
  expect([0, 1, 12, 1234].map((i) => chunkName("full.jsonl", i))).toEqual([
    "full.jsonl",
    "full.jsonl.001",
    "full.jsonl.012",
    "full.jsonl.1234",
  ]);
  const names = ["full.jsonl.003", "full.jsonl.001", "prompt.txt", "full.jsonl"];
  expect(chunkNames("full.jsonl", names)).toEqual(["full.jsonl", "full.jsonl.001"]);
  expect(chunkNames("full.jsonl", ["full.jsonl.001"])).toEqual([]);
});
