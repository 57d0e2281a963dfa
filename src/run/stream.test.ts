import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/own-process.ts";
import { LineSplitter } from "./stream.ts";

interface Seen {
  lines: string[];
  tooLong: number[];
}

function split(chunks: Iterable<Uint8Array>, longest?: number): Seen {
  const seen: Seen = { lines: [], tooLong: [] };
  const splitter = new LineSplitter(
    { line: (_, bytes) => seen.lines.push(bytes.toString("utf8")), tooLong: (bytes) => seen.tooLong.push(bytes) },
    longest,
  );
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return seen;
}

test("wherever the output is cut, the same objects come out as they went in", () => {
  const line = fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
    fc.constantFrom("garbage", "[1]", "12", '"text"', "null", "", "{", '{"a":', "----------", "\u001b[31m{}"),
  );
  const pieces = fc.array(fc.nat(40), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 20 }),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      pieces,
      (lines, end, last, sizes) => {
        const bytes = Buffer.from(lines.join(end) + (last ? end : ""));
        const chunks: Buffer[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = 1 + (sizes[i % sizes.length] ?? 0);
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        const objects = lines.filter((text) => text.startsWith("{") && text.endsWith("}") && text.length > 1);
        expect(split(chunks).lines).toEqual(objects);
      },
    ),
    runs(100),
  );
});

test("bytes that are no UTF-8 are no JSON", () => {
  const line = Buffer.from([...Buffer.from('{"a":"'), 0xff, 0xfe, ...Buffer.from('"}\n{"b":1}\n')]);
  expect(split([line]).lines).toEqual(['{"b":1}']);
  expect(split([crypto.getRandomValues(new Uint8Array(60_000))]).lines).toEqual([]);
});

test("a line that is too long is counted and not kept; the next one is read", () => {
  const long = `{"a":"${"x".repeat(1_000)}"}`;
  const seen = split([Buffer.from(`{"b":1}\n${long.slice(0, 500)}`), Buffer.from(`${long.slice(500)}\n{"c":1}`)], 100);
  expect(seen).toEqual({ lines: ['{"b":1}', '{"c":1}'], tooLong: [long.length] });
});
