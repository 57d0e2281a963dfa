import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonl } from "../recorded.ts";
import { analyzer, transcript, transcriptBefore } from "./recorded.ts";

const turns = transcript("three-turns");

test("a whole session: prompts, files, model, last words", () => {
  const slice = analyzer.readSlice(turns, 0);
  expect(slice).toMatchObject({
    end: turns.length,
    prompts: ["Please do [[turn1]] now", "Next do [[turn2]] please", "just echo me"],
    files: ["/home/dev/rerun/w-trunc/proj/a.txt"],
    model: "claude-opus-5-5",
    lastAnswer: "ECHO(13 messages): just echo me",
    interrupted: false,
  });
});

test("tokens count once a message, though every block repeats them", () => {
  expect(analyzer.readSlice(transcript("compacted"), 0).tokens).toEqual({
    input: 226,
    output: 419,
    cacheRead: 34_600,
    cacheWrite: 12_000,
  });
});

test("slices one after another say what the whole says", () => {
  const whole = analyzer.readSlice(turns, 0);
  const cut = transcriptBefore("three-turns", '"content":"Next do [[turn2]] please"}').length;
  const first = analyzer.readSlice(turns.subarray(0, cut), 0);
  const second = analyzer.readSlice(turns.subarray(first.end), first.end);
  expect(first.end).toBe(cut);
  expect(first).toMatchObject({ prompts: ["Please do [[turn1]] now"], lastAnswer: "Done: wrote a.txt." });
  expect(second.end).toBe(turns.length);
  expect(first.tokens.output + second.tokens.output).toBe(whole.tokens.output);
  expect([...first.prompts, ...second.prompts]).toEqual(whole.prompts);
});

test("an interruption is the last thing that happened, or not", () => {
  const name = "interrupted";
  expect(analyzer.readSlice(transcriptBefore(name, '"content":"echo after esc"'), 0).interrupted).toBe(true);
  expect(analyzer.readSlice(transcriptBefore(name, '"content":"go [[sleep]]"'), 0).interrupted).toBe(false);
  expect(analyzer.readSlice(transcriptBefore(name, '"content":"go [[fetch]]"'), 0).interrupted).toBe(true);
});

test("only the user's own words and commands are prompts", () => {
  const { prompts, model } = analyzer.readSlice(transcript("interrupted"), 0);
  expect(prompts).toEqual([
    "Please do [[turn1]] now",
    "Next do [[turn2]] please",
    "go [[slow]]",
    "echo after esc",
    "go [[sleep]]",
    "go [[fetch]]",
    "go [[error]]",
    "/hello world",
    "echo after model",
  ]);
  expect(model).toBe("claude-sonnet-4-5");
});

test("a subagent's own transcript is read like a session's", () => {
  expect(analyzer.readSlice(transcript("subagent"), 0)).toMatchObject({
    prompts: ["[[sub]] SUBAGENT-TASK: create c.txt and report."],
    files: ["/home/dev/rerun/w-int/proj/c.txt"],
    lastAnswer: "SUB REPORT: c.txt created.",
    tokens: { output: 63 },
  });
});

test("a file counts unless its tool failed", () => {
  const use = (id: string, path: string) => ({
    type: "assistant",
    uuid: `u-${id}`,
    message: { content: [{ type: "tool_use", id, name: "Write", input: { file_path: path } }] },
  });
  const result = (id: string, error: boolean) => ({
    type: "user",
    uuid: `r-${id}`,
    message: { content: [{ type: "tool_result", tool_use_id: id, is_error: error, content: "x" }] },
  });
  const lines = [use("1", "/done"), result("1", false), use("2", "/failed"), result("2", true), use("3", "/open")];
  const slice = analyzer.readSlice(jsonl(lines), 0);
  expect(slice.files).toEqual(["/done", "/open"]);
  expect(slice.lastId).toBe("r-2");
});

test("a subagent's lines among a session's, as older versions wrote them, are not the conversation", () => {
  const line = (uuid: string, isSidechain: boolean, type: string, text: string) => ({
    type,
    uuid,
    isSidechain,
    message: { id: `m-${uuid}`, content: [{ type: "text", text }], usage: { output_tokens: 1 } },
  });
  const lines = [
    line("1", false, "user", "ask"),
    line("2", true, "user", "asked on"),
    line("3", false, "assistant", "answer"),
    line("4", true, "assistant", "aside"),
  ];
  expect(analyzer.readSlice(jsonl(lines), 0)).toMatchObject({
    prompts: ["ask"],
    lastAnswer: "answer",
    lastId: "3",
    tokens: { output: 2 },
  });
  expect(analyzer.read(jsonl(lines)).entries.map((entry) => entry.id)).toEqual(["1", "3"]);
});

test("a tool use that a new prompt left behind keeps nothing open", () => {
  const lines = [
    { type: "assistant", uuid: "1", message: { content: [{ type: "tool_use", id: "t", name: "Bash", input: {} }] } },
    { type: "user", uuid: "2", message: { content: "never mind" } },
    { type: "assistant", uuid: "3", message: { content: [{ type: "text", text: "fine" }], stop_reason: "end_turn" } },
  ];
  expect(analyzer.readSlice(jsonl(lines), 0).lastId).toBe("3");
});

test("an error that Claude Code writes itself is no model's", () => {
  const slice = analyzer.readSlice(transcript("compacted"), 0);
  expect(slice.lastAnswer).toStartWith("API Error");
  expect(slice.model).toBe("claude-opus-5-5");
});

test("the last id is where the conversation is whole", () => {
  const ids = (text: string) => analyzer.readSlice(transcriptBefore("three-turns", text), 0).lastId;
  const afterFirstTurn = "709ee2aa-676a-4bb3-be92-2a23af76882c";
  expect(ids('"content":"Next do [[turn2]] please"}')).toBe(afterFirstTurn);
  // Only the words of a message that goes on to use a tool, then two open tool uses, then one of two results.
  const prompt = "1a4ea295-8836-4182-9acd-91074df36bc8";
  expect(ids('"id":"toolu_e1_2_35"')).toBe(prompt);
  expect(ids('"id":"toolu_b1_2_35"')).toBe(prompt);
  expect(ids('"tool_use_id":"toolu_b1_2_35"')).toBe(prompt);
  expect(ids('"text":"Now a sub-agent."')).toBe("01e0275a-00f5-42e2-af95-4a8d7ee83714");
});

test("a conversation has an entry for all that was said and done", () => {
  const { entries, title, model } = analyzer.read(turns);
  expect(entries.filter((entry) => entry.type === "prompt").map((entry) => entry.text)).toEqual([
    "Please do [[turn1]] now",
    "Next do [[turn2]] please",
    "just echo me",
  ]);
  expect(entries.slice(0, 6).map((entry) => entry.type)).toEqual([
    "prompt",
    "thinking",
    "answer",
    "tool-use",
    "tool-result",
    "answer",
  ]);
  const use = entries.find((entry) => entry.type === "tool-use");
  expect(use).toMatchObject({ toolName: "Write", files: ["/home/dev/rerun/w-trunc/proj/a.txt"] });
  const result = entries.find((entry) => entry.type === "tool-result" && entry.toolUseId === use?.toolUseId);
  expect(result).toMatchObject({ toolName: "Write", text: expect.stringContaining("File created successfully") });
  for (const { start, end, id } of entries) {
    expect(JSON.parse(turns.toString("utf8", start, end))).toMatchObject({ uuid: id });
  }
  expect([title, model]).toEqual([null, "claude-opus-5-5"]);
});

test("compaction and interruption are entries, titles are read", () => {
  const bytes = Buffer.concat([
    transcript("interrupted"),
    jsonl([
      { type: "ai-title", aiTitle: "By the machine", sessionId: "s" },
      { type: "custom-title", customTitle: "By the user", sessionId: "s" },
    ]),
  ]);
  const { entries, title } = analyzer.read(bytes);
  expect(title).toBe("By the user");
  expect(entries.some((entry) => entry.type === "compaction")).toBe(true);
  expect(entries.filter((entry) => entry.text === "Interrupted by the user")).toHaveLength(3);
});

test("lines of any JSON never make it throw", () => {
  const keys = fc.constantFrom("type", "uuid", "message", "content", "usage", "isSidechain", "toolUseResult", "id");
  const values = fc.oneof(fc.constantFrom("user", "assistant", "tool_use", "tool_result"), fc.jsonValue());
  const line = fc.dictionary(keys, fc.oneof(values, fc.dictionary(keys, fc.oneof(values, fc.array(values)))));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 10 }), (lines) => {
      const bytes = jsonl(lines);
      expect(analyzer.readSlice(bytes, 0).end).toBe(bytes.length);
      analyzer.read(bytes);
    }),
    { numRuns: 300 },
  );
});
