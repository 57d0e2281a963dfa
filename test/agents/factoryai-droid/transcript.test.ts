import { expect, test } from "bun:test";
import fc from "fast-check";
import { NO_TOKENS } from "../../../src/model/tokens.ts";
import { jsonl } from "../recorded.ts";
import { analyzer, linesOf, transcript, transcriptNames, upTo } from "./recorded.ts";

const turns = transcript("two-turns");

test("a whole session: prompts, files, model, last words", () => {
  expect(analyzer.readSlice(turns, 0)).toEqual({
    end: turns.length,
    lastId: "6f669df2-8fc6-4545-bce8-92aeeac23c76",
    prompts: ["Please do [[turn1]] now", "Next do [[turn2]] please"],
    files: ["/home/dev/project/a.txt"],
    tokens: NO_TOKENS,
    model: "custom:fake-model-0",
    lastAnswer: "All of turn 2 done.",
    interrupted: false,
  });
});

test("slices one after another say what the whole says", () => {
  const first = analyzer.readSlice(upTo("two-turns", '"reason":"completed"'), 0);
  const second = analyzer.readSlice(turns.subarray(first.end), first.end);
  expect(first).toMatchObject({ prompts: ["Please do [[turn1]] now"], lastAnswer: "Done: wrote a.txt." });
  expect(second).toMatchObject({ prompts: ["Next do [[turn2]] please"], end: turns.length });
});

test("a cut is never between a tool's use and its result", () => {
  const lastId = (text: string) => analyzer.readSlice(upTo("two-turns", text), 0).lastId;
  expect(lastId('"id":"cd1956a0')).toBe("cd1956a0-cdc5-4510-add3-59d2b2ae4fe9");
  expect(lastId('"id":"e1127930')).toBe("cd1956a0-cdc5-4510-add3-59d2b2ae4fe9");
  expect(lastId('"id":"3bdd45c8')).toBe("3bdd45c8-f4aa-410a-a3f2-64396b712ae3");
});

test("a turn that was broken off, while the model spoke or a tool ran", () => {
  const interrupted = (text: string) => analyzer.readSlice(upTo("interrupted", text), 0).interrupted;
  expect(interrupted("Request interrupted by user")).toBe(true);
  expect(interrupted('"reason":"cancelled"')).toBe(true);
  expect(interrupted("echo after interrupt")).toBe(false);
  expect(interrupted("Tool execution cancelled by user")).toBe(true);
  expect(interrupted("echo again")).toBe(false);
});

test("an error ends a turn and is not an answer", () => {
  expect(analyzer.readSlice(upTo("failed", "BYOK Error"), 0)).toMatchObject({ interrupted: true, lastAnswer: null });
  expect(analyzer.readSlice(transcript("failed"), 0)).toMatchObject({
    interrupted: false,
    prompts: ["do [[error]]", "do [[fail]]"],
    lastAnswer: "It failed as expected.",
  });
});

test("a tool that failed wrote nothing", () => {
  const use = { type: "tool_use", id: "1", name: "Create", input: { file_path: "/p/a" } };
  const result = (is_error: boolean) => ({ type: "tool_result", tool_use_id: "1", is_error, content: "" });
  const line = (role: string, block: unknown) => ({ type: "message", id: "x", message: { role, content: [block] } });
  const files = (lines: unknown[]) => analyzer.readSlice(jsonl(lines), 0).files;
  expect(files([line("assistant", use), line("user", result(true))])).toEqual([]);
  expect(files([line("assistant", use), line("user", result(false))])).toEqual(["/p/a"]);
  expect(files([line("assistant", use)])).toEqual(["/p/a"]);
});

test("a compaction is marked, and its summary is an entry", () => {
  const lines = [
    { type: "session_start", id: "s", title: "New Session", cwd: "/home/dev/project", hostId: "h" },
    { type: "compaction_state", id: "c", summaryText: "A summary", summaryKind: "llm_summary", removedCount: 14 },
  ];
  expect(analyzer.readSlice(jsonl(lines), 0)).toMatchObject({ lastAnswer: null });
  expect(analyzer.read(jsonl(lines)).entries).toMatchObject([{ type: "compaction", id: "c", text: "A summary" }]);
});

test("a conversation has an entry for all that was said and done", () => {
  const { entries, title, model } = analyzer.read(turns);
  expect(entries.map((entry) => `${entry.type} ${entry.toolName ?? entry.text}`)).toEqual([
    "prompt Please do [[turn1]] now",
    "answer I will create a.txt.",
    "tool-use Create",
    "tool-result Create",
    "answer Done: wrote a.txt.",
    "prompt Next do [[turn2]] please",
    "answer Edit and run.",
    "tool-use Edit",
    "tool-use Execute",
    "tool-result Edit",
    "tool-result Execute",
    "answer Now a sub-agent.",
    "tool-use Task",
    "tool-result Task",
    "tool-use TodoWrite",
    "tool-result TodoWrite",
    "answer All of turn 2 done.",
  ]);
  expect(title).toBe("Please do [[turn1]] now");
  expect(model).toBe("custom:fake-model-0");
  for (const { start, end, id } of entries) {
    expect(JSON.parse(turns.toString("utf8", start, end))).toMatchObject({ id: String(id) });
  }
});

test("interruptions and errors are notes, once", () => {
  const notes = (name: string) => analyzer.read(transcript(name)).entries.filter(({ type }) => type === "note");
  expect(notes("interrupted").map(({ text }) => text)).toEqual(["Interrupted by the user"]);
  expect(notes("failed").map(({ text }) => text.slice(0, 10))).toEqual(["BYOK Error"]);
});

test("lines with values of any kind never make it throw", () => {
  const lines = transcriptNames.flatMap((name) => linesOf(transcript(name)));
  const keys = fc.constantFrom("type", "id", "message", "role", "content", "visibility", "reason", "summaryText");
  fc.assert(
    fc.property(fc.constantFrom(...lines), keys, fc.jsonValue({ maxDepth: 2 }), (line, key, value) => {
      const message = typeof line["message"] === "object" ? { ...line["message"], [key]: value } : value;
      for (const damaged of [
        { ...line, [key]: value },
        { ...line, message },
      ]) {
        const bytes = jsonl([damaged]);
        expect(analyzer.readSlice(bytes, 0).end).toBe(bytes.length);
        analyzer.read(bytes);
      }
    }),
    { numRuns: 200 },
  );
});
