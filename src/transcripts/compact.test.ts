import { expect, test } from "bun:test";
import fc from "fast-check";
import { isCompactTranscript, readCompactTranscript } from "./compact.ts";

const LINES = [
  { v: 1, type: "user", agent: "claude-code", ts: "2026-01-05T09:00:00Z", content: [{ id: "u1", text: "Add a test" }] },
  {
    v: 1,
    type: "assistant",
    id: "m1",
    ts: "2026-01-05T09:00:05Z",
    input_tokens: 10,
    output_tokens: 4,
    content: [
      { type: "text", text: "I write it." },
      {
        type: "tool_use",
        id: "t1",
        name: "Write",
        input: { file_path: "a.test.ts", content: "x" },
        result: { output: "written", status: "success", file: { filePath: "/p/a.test.ts" } },
      },
      { type: "hologram", text: "not known" },
    ],
  },
  { v: 1, type: "assistant", id: "m2", content: "Done." },
  { v: 1, type: "assistant", id: "m3", content: null },
];
const bytes = Buffer.from(LINES.map((line) => JSON.stringify(line)).join("\n"));

test("a compact transcript is known by its first line and read as a conversation", () => {
  expect(isCompactTranscript(bytes)).toBe(true);
  const { entries, tokens } = readCompactTranscript(bytes);
  expect(entries.map(({ type, text, files }) => [type, text, files])).toEqual([
    ["prompt", "Add a test", []],
    ["answer", "I write it.", []],
    ["tool-use", "", ["/p/a.test.ts"]],
    ["tool-result", "written", []],
    ["answer", "Done.", []],
  ]);
  expect(tokens).toMatchObject({ input: 10, output: 4 });
});

test("an agent's own transcript is no compact one", () => {
  const claude = { type: "user", uuid: "1", message: { role: "user", content: "x" } };
  expect(isCompactTranscript(Buffer.from(`${JSON.stringify(claude)}\n`))).toBe(false);
  expect(isCompactTranscript(Buffer.alloc(0))).toBe(false);
});

test("lines with values of any kind never make it throw", () => {
  const line = fc.record({ v: fc.constant(1), type: fc.constantFrom("user", "assistant"), content: fc.jsonValue() });
  fc.assert(
    fc.property(
      fc.array(line),
      (lines) => void readCompactTranscript(Buffer.from(lines.map((each) => JSON.stringify(each)).join("\n"))),
    ),
  );
});
