import { expect, test } from "bun:test";
import { cutAt, filesWritten, lastAnswer, lastPrompt, resultOf } from "./conversation.ts";
import type { Conversation, Entry } from "./model.ts";
import { NO_TOKENS } from "./model.ts";

function entry(id: string, changes: Partial<Entry>): Entry {
  const blank = { time: null, text: "", toolName: null, toolUseId: null, toolInput: null, files: [], start: 0, end: 0 };
  return { ...blank, id, type: "note", ...changes };
}

const conversation: Conversation = {
  title: null,
  model: null,
  tokens: NO_TOKENS,
  entries: [
    entry("1", { type: "prompt", text: "first" }),
    entry("2", { type: "answer", text: "on it" }),
    entry("2", { type: "tool-use", toolUseId: "a", files: ["x", "y"] }),
    entry("3", { type: "tool-use", toolUseId: "b", files: ["x"] }),
    entry("4", { type: "tool-result", toolUseId: "b", text: "of b" }),
    entry("5", { type: "tool-result", toolUseId: "a", text: "of a" }),
    entry("6", { type: "prompt", text: "second" }),
  ],
};

test("the last prompt and the last answer", () => {
  expect(lastPrompt(conversation)?.text).toBe("second");
  expect(lastAnswer(conversation)?.text).toBe("on it");
});

test("a tool use's own result", () => {
  expect(resultOf(conversation, "a")?.text).toBe("of a");
  expect(resultOf(conversation, "c")).toBeUndefined();
});

test("a cut takes all of its entry along", () => {
  expect(cutAt(conversation, "2")?.entries).toHaveLength(3);
  expect(cutAt(conversation, "6")?.entries).toHaveLength(7);
  expect(cutAt(conversation, "9")).toBeUndefined();
});

test("files are named once", () => {
  expect(filesWritten(conversation)).toEqual(["x", "y"]);
});
