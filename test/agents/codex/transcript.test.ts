import { expect, test } from "bun:test";
import fc from "fast-check";
import { addTokens } from "../../../src/model/tokens.ts";
import { jsonl } from "../recorded.ts";
import { slice, used } from "../slice.ts";
import { analyzer, linesOf, transcript, upTo } from "./recorded.ts";

const turns = transcript("two-turns");
const FIRST_TURN_END = 24;

test("a whole session: prompts, files, model, last words", () => {
  expect(analyzer.readSlice(turns, 0)).toEqual(
    slice(turns.length, "46", used("gpt-6-sol", 5, [65_590 - 35, 336, 35, 0]), {
      prompts: ["TURN1 please", "TURN2 please"],
      files: ["/home/dev/project/a.txt"],
      lastAnswer: "Edited a.txt and wrote b.txt.",
    }),
  );
});

test("slices one after another say what the whole says, wherever a turn begins", () => {
  const whole = analyzer.readSlice(turns, 0);
  const cut = upTo("two-turns", FIRST_TURN_END).length;
  const first = analyzer.readSlice(turns.subarray(0, cut), 0);
  const second = analyzer.readSlice(turns.subarray(first.end), first.end);
  expect(first).toMatchObject({ end: cut, prompts: ["TURN1 please"], lastAnswer: "Created a.txt." });
  expect(second).toMatchObject({ end: turns.length, prompts: ["TURN2 please"] });
  expect(addTokens(first.tokens, second.tokens)).toEqual(whole.tokens);
});

test("tools that the model calls directly, and older rollouts, read the same", () => {
  for (const name of ["direct-tools", "legacy"]) {
    const slice = analyzer.readSlice(transcript(name), 0);
    expect(slice.files).toEqual(["/home/dev/project/a.txt"]);
    expect(slice.prompts.at(-1)).toBe("TURN2 please");
    expect(slice.lastAnswer).toBe("Edited a.txt and wrote b.txt.");
  }
});

test("older rollouts repeat a running count: each answer counts once", () => {
  const total = (bytes: Uint8Array) => analyzer.readSlice(bytes, 0).tokens;
  const without = (name: string) =>
    jsonl(linesOf(transcript(name)).filter((line) => line.type !== "token_usage_record"));
  for (const name of ["two-turns", "direct-tools", "subagent", "legacy", "parent"]) {
    expect(total(without(name))).toEqual(total(transcript(name)));
  }
  // The second turn alone: the count that it begins with belongs to the first.
  const second = linesOf(without("two-turns")).filter((line) => (line.ordinal ?? 0) > 22);
  expect(total(jsonl(second))).toEqual({ input: 39_723 - 21, output: 197, cacheRead: 21, cacheWrite: 0 });
});

test("the note to the model shows an interrupted turn, before its own end is written", () => {
  expect(analyzer.readSlice(upTo("interrupted", 84), 0)).toMatchObject({ interrupted: true, lastId: "84" });
  expect(analyzer.readSlice(transcript("interrupted"), 0).interrupted).toBe(true);
  expect(analyzer.readSlice(upTo("interrupted", 78), 0).interrupted).toBe(false);
  const next = linesOf(turns).filter((line) => line.ordinal === 29);
  const goesOn = Buffer.concat([transcript("interrupted"), jsonl(next)]);
  expect(analyzer.readSlice(goesOn, 0).interrupted).toBe(false);
});

test("a compaction is marked, and its summary is not an answer", () => {
  const slice = analyzer.readSlice(transcript("compacted"), 0);
  expect(slice).toMatchObject({ prompts: ["TURN1 please", "TURN2 please"] });
  expect(slice.lastAnswer).not.toContain("SUMMARY");
});

test("a subagent's rollout and its parent's", () => {
  expect(analyzer.readSlice(transcript("subagent"), 0)).toMatchObject({
    prompts: [],
    lastAnswer: "OK.",
    tokens: { input: 12_530, output: 37, cacheRead: 7 },
  });
  expect(analyzer.readSlice(transcript("parent"), 0)).toMatchObject({
    prompts: ["SPAWN please"],
    lastAnswer: "Subagent finished.",
  });
});

test("a patch that failed changed nothing; a move changed both names", () => {
  const change = (status: string, changes: unknown) => ({
    timestamp: "2026-11-16T03:19:24.000Z",
    ordinal: 1,
    type: "event_msg",
    payload: { type: "item_completed", item: { type: "FileChange", status, changes } },
  });
  const lines = [
    change("failed", { "/p/failed": { type: "add" } }),
    change("declined", { "/p/declined": { type: "add" } }),
    change("completed", { "/p/old": { type: "update", move_path: "/p/new" } }),
  ];
  expect(analyzer.readSlice(jsonl(lines), 0).files).toEqual(["/p/old", "/p/new"]);
});

test("the last id is where the conversation is whole", () => {
  const lastId = (ordinal: number) => analyzer.readSlice(upTo("two-turns", ordinal), 0).lastId;
  // A turn that has begun, up to its prompt, belongs to nobody yet.
  for (const ordinal of [24, 25, 26, 27, 28]) expect(lastId(ordinal)).toBe("24");
  expect(lastId(29)).toBe("29");
  // Words that the user has seen and the model has not; then an open call, until its result.
  for (const ordinal of [30, 32, 33, 34]) expect(lastId(ordinal)).toBe(ordinal === 30 ? "29" : "31");
  expect(lastId(35)).toBe("35");
  expect(analyzer.readSlice(upTo("two-turns", 10), 0).lastId).toBeNull();
});

test("a conversation has an entry for all that was said and done", () => {
  const { entries, model, tokens } = analyzer.read(turns);
  expect(entries.map((entry) => `${entry.type} ${entry.toolName ?? entry.text}`)).toEqual([
    "prompt TURN1 please",
    "answer I will create a.txt.",
    "tool-use exec",
    "tool-result exec",
    "answer Created a.txt.",
    "prompt TURN2 please",
    "answer I will edit a.txt.",
    "tool-use exec",
    "tool-result exec",
    "tool-use exec",
    "tool-result exec",
    "answer Edited a.txt and wrote b.txt.",
  ]);
  expect(entries.map((entry) => entry.files.length)).toEqual([0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
  expect(model).toBe("gpt-6-sol");
  expect(tokens).toEqual(analyzer.readSlice(turns, 0).tokens);
  for (const { start, end, id } of entries) {
    expect(JSON.parse(turns.toString("utf8", start, end))).toMatchObject({ ordinal: Number(id) });
  }
});

test("compactions and interruptions are entries, once", () => {
  const { entries } = analyzer.read(transcript("interrupted"));
  expect(entries.filter((entry) => entry.type === "compaction")).toHaveLength(1);
  expect(entries.filter((entry) => entry.text === "Interrupted by the user")).toHaveLength(1);
});

test("lines of any JSON never make it throw", () => {
  const words = fc.constantFrom(
    "event_msg",
    "response_item",
    "token_usage_record",
    "turn_context",
    "compacted",
    "item_completed",
    "token_count",
    "FileChange",
    "UserMessage",
    "message",
    "function_call",
    "function_call_output",
  );
  const keys = fc.constantFrom("type", "payload", "item", "changes", "info", "content", "call_id", "usage", "ordinal");
  const values = fc.oneof(words, fc.jsonValue({ maxDepth: 1 }));
  const object = fc.dictionary(keys, fc.oneof(values, fc.dictionary(keys, fc.oneof(values, fc.array(values)))));
  const line = fc.record({ type: words, payload: fc.oneof(object, values) });
  fc.assert(
    fc.property(fc.array(fc.oneof(line, object), { maxLength: 5 }), (lines) => {
      const bytes = jsonl(lines);
      expect(analyzer.readSlice(bytes, 0).end).toBe(bytes.length);
      analyzer.read(bytes);
    }),
    { numRuns: 100 },
  );
});
