import { expect, test } from "bun:test";
import fc from "fast-check";
import { addTokens } from "../../../src/model/tokens.ts";
import { jsonl } from "../recorded.ts";
import { slice, used } from "../slice.ts";
import { analyzer, linesOf, transcript, transcriptNames, upTo } from "./recorded.ts";

const turns = transcript("three-turns");

test("a whole session: prompts, files, tokens, model, last words", () => {
  expect(analyzer.readSlice(turns, 0)).toEqual(
    // As Copilot counts them itself at the end, its subagent's with them.
    slice(turns.length, "2063f8a1-06db-45e2-939b-afb2c0a812e8", used("fake-1", 8, [96_651 - 16_000, 93, 16_000, 0]), {
      prompts: ["T1 write a.txt", "T2 edit", "T3 sub"],
      files: ["/home/dev/project/a.txt", "/home/dev/project/c.txt"],
      lastAnswer: "T3 done: sub-agent returned",
    }),
  );
});

test("slices one after another say what the whole says", () => {
  const first = analyzer.readSlice(upTo("three-turns", '"type":"session.shutdown"'), 0);
  const rest = analyzer.readSlice(turns.subarray(first.end), first.end);
  expect(first).toMatchObject({ prompts: ["T1 write a.txt"], lastAnswer: "T1 done: wrote a.txt" });
  expect(rest).toMatchObject({ prompts: ["T2 edit", "T3 sub"], end: turns.length });
  expect(addTokens(first.tokens, rest.tokens)).toEqual(analyzer.readSlice(turns, 0).tokens);
});

test("a cut is never between a call and its result, nor in a subagent", () => {
  const whole = new Set<string>();
  const lines = linesOf(turns);
  for (let count = 1; count <= lines.length; count++) {
    whole.add(analyzer.readSlice(jsonl(lines.slice(0, count)), 0).lastId ?? "");
  }
  const cuts = lines.filter((line) => whole.has(String(line.id)));
  expect(cuts.filter((line) => line["agentId"] !== undefined)).toEqual([]);
  expect(cuts.filter((line) => line.type === "assistant.message").map(({ data }) => data)).toEqual(
    ["T1 done: wrote a.txt", "T2 done: edited a.txt, made b.txt", "T3 done: sub-agent returned"].map((content) =>
      expect.objectContaining({ content }),
    ),
  );
});

test("what a subagent says is not the turn's, whether or not the session waits for it", () => {
  const amid = analyzer.readSlice(upTo("three-turns", '"content":"SUB done: wrote c.txt"'), 0);
  expect(amid).toMatchObject({ prompts: ["T1 write a.txt", "T2 edit", "T3 sub"], lastAnswer: "working on T3" });
  const inBackground = linesOf(turns).filter((line) => line["agentId"] !== undefined);
  const ended = upTo("three-turns", '"type":"session.shutdown"');
  const { lastId } = analyzer.readSlice(Buffer.concat([ended, jsonl(inBackground.slice(0, -10))]), 0);
  expect(lastId).toBe(analyzer.readSlice(ended, 0).lastId);
});

test("a turn that was broken off, a compaction, and what came after them", () => {
  const slice = (text: string) => analyzer.readSlice(upTo("terminal", text), 0);
  expect(slice('"type":"abort"')).toMatchObject({ interrupted: true, lastAnswer: "Done it." });
  expect(slice('"content":"hello there"').interrupted).toBe(false);
  expect(analyzer.readSlice(transcript("terminal"), 0).prompts).toEqual([
    "Do [[first]]",
    "Do [[stall]]",
    "hello there",
    "after it",
  ]);
});

test("an error breaks a turn off; a tool that failed wrote nothing; a failed compaction is none", () => {
  const line = (type: string, data: unknown) => ({ type, data, id: type, timestamp: "2026-11-16T03:00:55.389Z" });
  const edits = [{ path: "/p/a", kind: "edit" }];
  const lines = [
    line("user.message", { content: "go" }),
    line("tool.execution_complete", { toolCallId: "1", success: false, fileEdits: edits, error: { message: "no" } }),
    line("session.compaction_complete", { success: false }),
    line("session.error", { errorType: "query", message: "It failed" }),
  ];
  expect(analyzer.readSlice(jsonl(lines), 0)).toMatchObject({ interrupted: true, files: [] });
  expect(analyzer.read(jsonl(lines)).entries.at(-1)).toMatchObject({ type: "note", text: "It failed" });
});

test("a conversation has an entry for all that was said and done, without the subagent's own", () => {
  const { entries, model, tokens } = analyzer.read(turns);
  expect(entries.map((entry) => `${entry.type} ${entry.toolName ?? entry.text}`)).toEqual([
    "prompt T1 write a.txt",
    "answer working on T1",
    "tool-use create",
    "tool-result create",
    "answer T1 done: wrote a.txt",
    "prompt T2 edit",
    "answer working on T2",
    "tool-use edit",
    "tool-use bash",
    "tool-result edit",
    "tool-result bash",
    "answer T2 done: edited a.txt, made b.txt",
    "prompt T3 sub",
    "answer working on T3",
    "tool-use task",
    "tool-result task",
    "answer T3 done: sub-agent returned",
  ]);
  expect(entries.filter(({ files }) => files.length > 0).map(({ toolName }) => toolName)).toEqual(["create", "edit"]);
  expect(model).toBe("fake-1");
  expect(tokens).toEqual(analyzer.readSlice(turns, 0).tokens);
  for (const { start, end, id } of entries) {
    expect(JSON.parse(turns.toString("utf8", start, end))).toMatchObject({ id: String(id) });
  }
});

test("lines with values of any kind never make it throw", () => {
  const lines = transcriptNames.flatMap((name) => linesOf(transcript(name)));
  const keys = fc.constantFrom("type", "id", "data", "content", "toolRequests", "usage", "result", "fileEdits");
  fc.assert(
    fc.property(fc.constantFrom(...lines), keys, fc.jsonValue({ maxDepth: 2 }), (line, key, value) => {
      const data = typeof line["data"] === "object" ? { ...line["data"], [key]: value } : value;
      for (const damaged of [
        { ...line, [key]: value },
        { ...line, data },
      ]) {
        const bytes = jsonl([damaged]);
        expect(analyzer.readSlice(bytes, 0).end).toBe(bytes.length);
        analyzer.read(bytes);
      }
    }),
    { numRuns: 200 },
  );
});
