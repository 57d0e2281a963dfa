import { expect, test } from "bun:test";
import fc from "fast-check";
import { chunksOf, reassembled } from "./serve-transcript.ts";

test("chunks of any bytes stay within the size and join to the same bytes", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }),
    fc.array(fc.string({ maxLength: 80 }), { maxLength: 40 }).map((lines) => Buffer.from(lines.join("\n"))),
  );
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 600 }), (given, limit) => {
      const content = Buffer.from(given);
      const chunks = chunksOf(limit, content);
      for (const chunk of chunks) expect(Buffer.from(chunk, "base64").length).toBeLessThanOrEqual(limit);
      expect(reassembled({ chunks }).equals(content)).toBe(true);
      expect(chunks.length === 1).toBe(content.length <= limit);
    }),
  );
});

test("a chunk ends where a line does, if one fits", () => {
  const chunks = chunksOf(8, Buffer.from("one\ntwo\nthree\n")).map((chunk) => Buffer.from(chunk, "base64").toString());
  expect(chunks).toEqual(["one\ntwo\n", "three\n"]);
});
