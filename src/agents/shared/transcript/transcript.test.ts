import { expect, test } from "bun:test";
import { conversationOf } from "./conversation.ts";
import { CutPoints, lastCut } from "./cut-points.ts";
import type { Scope, TranscriptEntry, TranscriptItem } from "./items.ts";
import { sliceOf } from "./slice.ts";

const tokens = (input: number) => ({ input, output: 0, cacheRead: 0, cacheWrite: 0 });

function entry(id: string | null, items: TranscriptItem[], more: Partial<TranscriptEntry> = {}): TranscriptEntry {
  return { id, time: null, start: 0, end: 9, cuttable: true, items, ...more };
}

const prompt = (text: string): TranscriptItem => ({ kind: "prompt", text });
const answer = (text: string, message?: string): TranscriptItem => ({ kind: "answer", text, message });
const use = (toolUseId: string | null, files: string[] = []): TranscriptItem => ({
  kind: "tool-use",
  toolUseId,
  toolName: "Write",
  input: {},
  files,
});
const result = (toolUseId: string | null, failed = false): TranscriptItem => ({
  kind: "tool-result",
  toolUseId,
  text: "",
  failed,
});

test("parts of one message are one answer, in one entry or in several", () => {
  const parts = [answer("one"), answer("two")];
  expect(sliceOf([entry("a", parts)], 0).lastAnswer).toBe("one\ntwo");
  expect(sliceOf([entry("a", [answer("one")]), entry("b", [answer("two")])], 0).lastAnswer).toBe("two");
  const same = [entry("a", [answer("one", "m")]), entry("b", [answer("two", "m")])];
  expect(sliceOf(same, 0).lastAnswer).toBe("one\ntwo");
});

test("a slice lists the files of uses that did not fail", () => {
  const items = [use("1", ["a"]), use("2", ["b"]), result("1"), result("2", true), use(null, ["c"])];
  expect(sliceOf([entry("a", items)], 0).files).toEqual(["a", "c"]);
});

test("usage counts once for each key, and a fallback only without any other", () => {
  const usage = (key: string | null, input: number, isFallback = false): TranscriptItem => ({
    kind: "usage",
    tokens: tokens(input),
    key,
    isFallback,
  });
  const slice = sliceOf([entry("a", [usage("m", 1), usage("m", 2), usage(null, 3), usage(null, 50, true)])], 0);
  expect(slice).toMatchObject({ tokens: tokens(5), apiCalls: 2 });
  expect(sliceOf([entry("a", [usage(null, 50, true)])], 0)).toMatchObject({ tokens: tokens(50), apiCalls: 1 });
  const unknown = sliceOf([entry("a", [{ kind: "usage", tokens: null, key: null }])], 0);
  expect(unknown).toMatchObject({ tokens: tokens(0), tokensUnknown: true });
});

test("only what the user asks ends an interruption, or what the model does next", () => {
  const stopped: TranscriptItem = { kind: "interrupted", text: null };
  const isInterrupted = (...items: TranscriptItem[]) => sliceOf([entry("a", items)], 0).interrupted;
  expect(isInterrupted(prompt("x"), stopped)).toBe(true);
  expect(isInterrupted(stopped, { kind: "note", text: "x" })).toBe(true);
  for (const next of [prompt("x"), answer("x"), use("1")]) expect(isInterrupted(stopped, next)).toBe(false);
});

test("the id of an entry without items is asked for only where it is the last to cut at", () => {
  let asked = 0;
  const lazy = (id: string | null): TranscriptEntry => ({
    ...entry(null, []),
    get id() {
      asked++;
      return id;
    },
  });
  expect(sliceOf([lazy("a"), lazy("b"), entry("c", [answer("x")])], 0).lastId).toBe("c");
  expect(asked).toBe(0);
  expect(sliceOf([entry("c", [answer("x")]), lazy("a"), lazy("b")], 0).lastId).toBe("b");
  expect(sliceOf([entry("c", [answer("x")]), lazy(null)], 0).lastId).toBe("c");
  expect(asked).toBe(2);
});

test("each scope says what of an entry counts", () => {
  const items = [prompt("p"), use("1", ["a"]), result("1"), { kind: "usage", tokens: tokens(1), key: null } as const];
  const scoped = (scope: Scope) => {
    const entries = [entry("a", items, { scope })];
    const { prompts, files, tokens: used, lastId } = sliceOf(entries, 0);
    const conversation = conversationOf(entries);
    return [prompts, files, used.input, lastId, conversation.entries.length, conversation.tokens.input];
  };
  expect(scoped("subagent")).toEqual([[], ["a"], 1, "a", 0, 1]);
  expect(scoped("repeated")).toEqual([[], ["a"], 1, "a", 0, 1]);
  expect(scoped("rewound")).toEqual([["p"], ["a"], 1, null, 0, 1]);
});

test("a conversation gives a result the name of its tool, and a use the files that come later", () => {
  const entries = [entry("a", [use("1")]), entry("b", [{ kind: "files", files: ["f"], toolUseId: "1" }, result("1")])];
  expect(conversationOf(entries).entries).toMatchObject([
    { type: "tool-use", files: ["f"] },
    { type: "tool-result", toolName: "Write" },
  ]);
});

test("a result that reports a failure says so, any other does not", () => {
  const { entries } = conversationOf([entry("a", [use("1"), use("2"), result("1", true), result("2")])]);
  expect(entries.map(({ type, failed }) => [type, failed])).toEqual([
    ["tool-use", undefined],
    ["tool-use", undefined],
    ["tool-result", true],
    ["tool-result", undefined],
  ]);
});

test("of titles the lowest rank counts, and the last of them", () => {
  const title = (text: string | null, rank: number) => entry(null, [{ kind: "title", text, rank }]);
  expect(conversationOf([title("a", 1), title("b", 0), title("c", 0), title("d", 1), title(null, 0)]).title).toBe("c");
});

test("a conversation can be cut where nothing is open", () => {
  const cuts = new CutPoints();
  expect(cuts.add([use("1"), use(null)])).toBe(false);
  expect(cuts.add([result("1")])).toBe(false);
  expect(cuts.add([result(null)])).toBe(true);
  cuts.open("answer");
  expect(cuts.add([])).toBe(false);
  expect(cuts.add([prompt("x")])).toBe(true);
  expect(lastCut([entry("a", []), entry("b", [], { end: 19, cuttable: false })], 5)).toBe(10);
  expect(lastCut([], 5)).toBe(5);
});
