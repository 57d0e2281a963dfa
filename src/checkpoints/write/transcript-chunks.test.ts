import { expect, test } from "bun:test";
import { fitting } from "./transcript-chunks.ts";

test("a record that no host would take leaves a word in its place, and any other stays as it is", () => {
  const bytes = Buffer.from('{"type":"user","text":"long"}\n');
  expect(fitting(bytes, bytes.length)).toBe(bytes);
  expect(JSON.parse(Buffer.from(fitting(bytes, bytes.length - 1)).toString())).toEqual({
    type: "backtrail-left-out",
    bytes: bytes.length,
  });
});
