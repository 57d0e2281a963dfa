import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonl } from "../recorded.ts";
import { slice, used } from "../slice.ts";
import { analyzer, forker, linesOf, promptStarts, transcript } from "./recorded.ts";

const session = transcript("session");
const starts = promptStarts(session);

/** What a turn added, as a hook at its end reads it. */
function turn(number: number) {
  const from = starts[number - 1] ?? 0;
  return analyzer.readSlice(session.subarray(from, starts[number]), from);
}

test("a turn: prompt, files, tokens, model, last words", () => {
  expect(turn(1)).toEqual(
    slice(starts[1] ?? 0, "msg_1e904f0350010aqkVI1ZGIHH4E", used("model-1", 2, [2026, 75, 4600, 0]), {
      prompts: ["Say hello in a file [[first]]"],
      files: ["/home/dev/proj/greeting.txt"],
      usd: 0.002176,
      lastAnswer: "Hello is there.",
    }),
  );
});

test("what OpenCode says that a turn cost is taken, unless an answer has no price", () => {
  const priced = (costs: number[]) => {
    let answer = 0;
    const lines = linesOf(session.subarray(starts[0], starts[1])).map((line) => {
      const value = line as { info?: { role?: string; cost?: number } };
      if (value.info?.role === "assistant") value.info.cost = costs[answer++ % costs.length] ?? 0;
      return value;
    });
    return analyzer.readSlice(jsonl(lines), 0).usd;
  };
  expect(priced([0.25])).toBe(0.5);
  expect(priced([0.25, 0])).toBeUndefined();
});

test("an interruption and a compaction are seen, and a summary is no answer", () => {
  expect(turn(2)).toMatchObject({ interrupted: false, lastAnswer: "It is bigger." });
  const third = turn(3);
  expect(third).toMatchObject({ lastAnswer: "And so on and on", prompts: ["Never end [[endless]]"] });
  const compaction = analyzer.read(session).entries.find((entry) => entry.type === "compaction")?.start ?? 0;
  expect(analyzer.readSlice(session.subarray(starts[2], compaction), 0)).toMatchObject({
    interrupted: true,
  });
  expect(turn(4)).toMatchObject({ interrupted: false, lastAnswer: "You said: After that" });
});

test("a subagent's transcript is one like any other", () => {
  expect(analyzer.readSlice(transcript("subagent"), 0)).toMatchObject({
    prompts: ["[[subtask]] Write helper.txt"],
    files: ["/home/dev/proj/helper.txt"],
    lastAnswer: "helper.txt is written.",
    tokens: { input: 2026, output: 49, cacheRead: 4600, cacheWrite: 0 },
  });
});

test("a message that is written again counts once, and the last one counts", () => {
  const lines = linesOf(session);
  const answer = lines.find((line) => line.info.role === "assistant");
  const parts = answer?.parts?.map((part) => (part.type === "text" ? { ...part, text: "Changed" } : part));
  const again = jsonl([...lines.slice(0, 4), { ...answer, parts }]);
  const once = analyzer.readSlice(jsonl(lines.slice(0, 4)), 0);
  expect(analyzer.readSlice(again, 0)).toMatchObject({ tokens: once.tokens, lastAnswer: "Changed" });
  expect(analyzer.read(again).entries.filter((entry) => entry.type === "answer")).toHaveLength(1);
});

test("what tells late of an earlier turn is no part of this one", () => {
  const lines = linesOf(session);
  const second = lines.slice(5, 9);
  const late = lines.slice(1, 5).map((line) => ({ late: true, ...line }));
  const plain = analyzer.readSlice(jsonl(second), 0);
  const mixed = analyzer.readSlice(jsonl([...late, ...second, ...late]), 0);
  expect({ ...mixed, end: 0 }).toEqual({ ...plain, end: 0 });
  const whole = analyzer.read(jsonl([...lines.slice(0, 9), ...late]));
  expect(whole.entries.filter((entry) => entry.type === "prompt")).toHaveLength(2);
});

test("files are those that a tool wrote, and a tool that failed wrote none", () => {
  const tool = (name: string, state: object) => ({ id: "prt_1", type: "tool", tool: name, callID: "c", state });
  const parts = [
    tool("edit", { status: "error", input: { filePath: "/p/failed" } }),
    tool("write", { status: "completed", input: { filePath: "/p/written" } }),
    tool("write", { status: "running", input: { filePath: "/p/perhaps" } }),
    tool("read", { status: "completed", input: { filePath: "/p/read" } }),
    tool("apply_patch", {
      status: "completed",
      metadata: { files: [{ filePath: "/p/from", movePath: "/p/to" }, { filePath: "/p/written" }, null] },
    }),
  ];
  const line = { type: "message", info: { id: "msg_1", role: "assistant" }, parts };
  const slice = analyzer.readSlice(jsonl([line]), 0);
  expect(slice.files).toEqual(["/p/written", "/p/perhaps", "/p/from", "/p/to"]);
  expect(slice.lastId).toBeNull();
});

test("messages that OpenCode took back are gone", () => {
  const lines = linesOf(session);
  const removed = lines.slice(5, 9).map((line) => ({ type: "removed", id: line.info.id }));
  const { entries } = analyzer.read(jsonl([...lines.slice(0, 9), ...removed]));
  expect(entries.filter((entry) => entry.type === "prompt").map((entry) => entry.text)).toEqual([
    "Say hello in a file [[first]]",
  ]);
});

test("the conversation reads in order", () => {
  const { entries, title, model } = analyzer.read(session);
  expect({ title, model }).toEqual({ title: "I will write it.", model: "model-1" });
  expect(entries.slice(0, 7).map(({ type, text, toolName }) => [type, toolName ?? text])).toEqual([
    ["prompt", "Say hello in a file [[first]]"],
    ["answer", "I will write it."],
    ["tool-use", "write"],
    ["tool-result", "write"],
    ["tool-use", "bash"],
    ["tool-result", "bash"],
    ["answer", "Hello is there."],
  ]);
  expect(entries.filter(({ type }) => type === "compaction").map(({ text }) => text)).toEqual(["## Goal\nA summary."]);
  expect(entries.filter(({ type }) => type === "note").map(({ text }) => text)).toEqual(["Interrupted by the user"]);
});

test("a session that has no title yet has none", () => {
  expect(analyzer.read(jsonl(linesOf(session).slice(0, 2))).title).toBeNull();
});

test("values of any kind in any place are read as far as they can be", () => {
  const lines = linesOf(session);
  const places = ["type", "info", "parts", "late"] as const;
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom(...places), fc.jsonValue(), fc.boolean(), (at, place, value, deep) => {
      const changed = structuredClone(lines) as unknown as Record<string, unknown>[];
      const line = changed[at % changed.length] ?? {};
      const parts = line["parts"];
      if (!deep) line[place] = value;
      else if (place === "parts" && Array.isArray(parts))
        for (const part of parts) part[["state", "text", "id"][at % 3] ?? ""] = value;
      else Object.assign(line["info"] as object, { [["id", "time", "tokens", "error"][at % 4] ?? ""]: value });
      stands(jsonl(changed));
    }),
    { numRuns: 300 },
  );
});

function stands(bytes: Uint8Array): void {
  const slice = analyzer.readSlice(bytes, 7);
  expect(slice.end).toBeLessThanOrEqual(7 + bytes.length);
  expect(Object.values(slice.tokens).every((count) => count >= 0)).toBe(true);
  analyzer.read(bytes);
  const fork = { lastId: slice.lastId, transcriptPath: "/s/a.jsonl", projectRoot: "/p", title: "t" };
  forker.fork({ ...fork, bytes, newSessionId: "new" });
}
