import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { jsonl } from "../recorded.ts";
import { slice, used } from "../slice.ts";
import { analyzer, transcript, transcriptBefore } from "./recorded.ts";

test("a whole session: prompts, files, model, last words", () => {
  const bytes = transcript("resumed");
  expect(analyzer.readSlice(bytes, 0)).toEqual(
    // Of five messages; each is in the transcript two to three times.
    slice(bytes.length, "1a2ff16f-c773-487c-9b3e-5ce49642b71e", used("gemini-3.8-flash", 5, [1977, 138, 0, 0]), {
      prompts: ["TURN1 please", "TURN2 please"],
      files: ["/home/dev/main/proj/a.txt"],
      lastAnswer: "Edited a.txt and wrote b.txt.",
    }),
  );
});

test("a resume says nothing new, though it writes everything anew", () => {
  const before = transcriptBefore("resumed", '"startTime":"2026-11-16T03:25:36').length;
  const prompt = transcriptBefore("resumed", '"text":"TURN2 please"').length;
  const resumed = transcript("resumed").subarray(before, prompt);
  expect(resumed.includes("TURN1 please")).toBe(true);
  expect(analyzer.readSlice(resumed, before)).toMatchObject({
    end: prompt,
    lastId: null,
    prompts: [],
    files: [],
    tokens: { input: 0, output: 0 },
    lastAnswer: null,
  });
});

test("slices one after another say what the whole says", () => {
  const bytes = transcript("compressed");
  const cut = transcriptBefore("compressed", '"text":"TURN2 please"').length;
  const whole = analyzer.readSlice(bytes, 0);
  const first = analyzer.readSlice(bytes.subarray(0, cut), 0);
  const second = analyzer.readSlice(bytes.subarray(first.end), first.end);
  expect(first).toMatchObject({ end: cut, prompts: ["TURN1 please"], lastAnswer: "Created a.txt." });
  expect(second.end).toBe(bytes.length);
  expect(first.tokens.input + second.tokens.input).toBe(whole.tokens.input);
  expect([...first.prompts, ...second.prompts]).toEqual(whole.prompts);
});

test("what came from the cache is not counted as input as well, thoughts are output", () => {
  const message = { id: "1", type: "gemini", content: "x", tokens: { input: 100, output: 7, cached: 60, thoughts: 3 } };
  const again = { ...message, toolCalls: [], tokens: { ...message.tokens, tool: 5 } };
  expect(analyzer.readSlice(jsonl([message, again]), 0).tokens).toEqual({
    input: 45,
    output: 10,
    cacheRead: 60,
    cacheWrite: 0,
  });
});

test("a compression is seen, and what it keeps is not said twice", () => {
  const asked = analyzer.readSlice(transcript("compressed"), 0);
  expect(asked).toMatchObject({ prompts: ["TURN1 please", "TURN2 please", "READ please"] });
  const byItself = analyzer.readSlice(transcript("compressed-by-itself"), 0);
  expect(byItself).toMatchObject({ prompts: ["TURN1 please", "TURN2 please"] });
});

test("an interruption is the last thing that happened, or not", () => {
  expect(analyzer.readSlice(transcriptBefore("interrupted", '"text":"Are you there"'), 0).interrupted).toBe(true);
  expect(analyzer.readSlice(transcript("interrupted"), 0)).toMatchObject({
    interrupted: false,
    files: ["/home/dev/project/half.txt"],
  });
});

test("the agent's own rewind moves the end back", () => {
  const before = analyzer.readSlice(transcriptBefore("rewound", '{"$rewindTo"'), 0).lastId;
  expect(before).toBe("4c6e03e9-e2a6-4d15-bcca-d605f768e7cb");
  const slice = analyzer.readSlice(transcript("rewound"), 0);
  expect(slice.lastId).toBe("e8a1590c-b946-4ca4-959b-c3c6be3b08f7");
  expect(slice.prompts.at(-1)).toBe("hello one more");
});

test("a subagent's own transcript is read like a session's, with its report", () => {
  expect(analyzer.readSlice(transcript("subagent"), 0)).toMatchObject({
    prompts: ["[[subtask]] Write helper.txt"],
    files: ["/home/dev/project/helper.txt"],
    lastAnswer: "helper.txt is written.",
    tokens: { cacheRead: 2100 + 2300 + 2500 },
  });
});

test("a session's summary is its title and never an answer", () => {
  const lines = [{ sessionId: "s", projectHash: "h", kind: "main" }, { $set: { summary: "About files" } }];
  expect(analyzer.readSlice(jsonl(lines), 0).lastAnswer).toBeNull();
  expect(analyzer.read(jsonl(lines)).title).toBe("About files");
});

test("a file counts unless its tool failed or was refused", () => {
  const call = (id: string, status: string, path: string) => ({
    id,
    name: "replace",
    args: { file_path: path },
    status,
    result: [{ functionResponse: { id, response: { output: "x" } } }],
  });
  const toolCalls = [call("1", "success", "a"), call("2", "error", "b"), call("3", "cancelled", "c")];
  const other = { ...call("4", "success", "d"), name: "read_file" };
  const message = { id: "m", type: "gemini", content: "", toolCalls: [...toolCalls, other] };
  expect(analyzer.readSlice(jsonl([message]), 0).files).toEqual(["a"]);
});

test("the last id is where no call waits for its result", () => {
  const user = { id: "u", type: "user", content: "go" };
  const call = { id: "c", type: "gemini", content: [{ functionCall: { id: "f", name: "glob", args: {} } }] };
  const result = { id: "r", type: "user", content: [{ functionResponse: { id: "f", response: { output: "x" } } }] };
  const running = { id: "c", type: "gemini", content: "", toolCalls: [{ id: "f", name: "glob", args: {} }] };
  const lastId = (...lines: unknown[]) => analyzer.readSlice(jsonl(lines), 0).lastId;
  expect(lastId(user, call)).toBe("u");
  expect(lastId(user, running)).toBe("u");
  expect(lastId(user, call, result)).toBe("r");
  expect(lastId(user, call, { ...user, id: "u2" })).toBe("u2");
});

test("a conversation has an entry for all that was said and done, once", () => {
  const bytes = transcript("resumed");
  const { entries, title, model, tokens } = analyzer.read(bytes);
  expect(entries.map((entry) => entry.type)).toEqual([
    "prompt",
    "answer",
    "tool-use",
    "tool-result",
    "answer",
    "prompt",
    "answer",
    "tool-use",
    "tool-result",
    "tool-use",
    "tool-result",
    "answer",
  ]);
  expect(entries[2]).toMatchObject({ toolName: "write_file", files: ["/home/dev/main/proj/a.txt"] });
  expect(entries[3]).toMatchObject({ toolName: "write_file", toolUseId: entries[2]?.toolUseId ?? "" });
  for (const { start, end, id } of entries) {
    expect(JSON.parse(bytes.toString("utf8", start, end))).toMatchObject({ id });
  }
  expect([title, model, tokens.input]).toEqual([null, "gemini-3.8-flash", 1977]);
});

test("a compression is an entry, and the conversation before it stays", () => {
  const entries = analyzer.read(transcript("compressed")).entries;
  expect(entries.filter((entry) => entry.type === "prompt").map((entry) => entry.text)).toEqual([
    "TURN1 please",
    "TURN2 please",
    "READ please",
  ]);
  expect(entries.filter((entry) => entry.type === "compaction")).toEqual([
    expect.objectContaining({ text: expect.stringMatching(/^<state_snapshot>/) }),
  ]);
  const again = analyzer.read(transcript("compressed-by-itself")).entries;
  expect(again.filter((entry) => entry.type === "prompt")).toHaveLength(2);
  expect(again.findLast((entry) => entry.type === "compaction")?.text).toStartWith("<state_snapshot>");
});

test("what the agent itself took back is not in the conversation", () => {
  const prompts = analyzer.read(transcript("rewound")).entries.filter((entry) => entry.type === "prompt");
  expect(prompts.map((entry) => entry.text)).not.toContain("hello one more");
});

test("lines of any JSON never make it throw", () => {
  const keys = fc.constantFrom(
    "$set",
    "$rewindTo",
    "id",
    "type",
    "content",
    "messages",
    "toolCalls",
    "tokens",
    "thoughts",
    "result",
    "functionCall",
    "functionResponse",
    "text",
    "sessionId",
    "projectHash",
    "summary",
    "kind",
  );
  const values = fc.oneof(
    fc.constantFrom("user", "gemini", "info", "subagent", "<state_snapshot>"),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const flat = fc.dictionary(keys, values, { maxKeys: 5 });
  const deep = fc.dictionary(keys, fc.oneof(values, flat, fc.array(flat, { maxLength: 3 })), { maxKeys: 5 });
  const line = fc.dictionary(keys, fc.oneof(values, deep, fc.array(deep, { maxLength: 3 })), { maxKeys: 6 });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      const bytes = jsonl(lines);
      expect(analyzer.readSlice(bytes, 0).end).toBe(bytes.length);
      analyzer.read(bytes);
    }),
    { numRuns: 150 },
  );
});

describe("a transcript that is one JSON document", () => {
  const messages = [
    { id: "m1", timestamp: "2026-01-05T09:00:00.000Z", type: "user", content: "First task" },
    {
      id: "m2",
      timestamp: "2026-01-05T09:00:05.000Z",
      type: "gemini",
      content: "Wrote a.txt.",
      model: "gemini-2.5-pro",
      tokens: { input: 100, output: 7, cached: 60, thoughts: 3, tool: 0, total: 110 },
      toolCalls: [
        { id: "c1", name: "write_file", args: { file_path: "a.txt" }, status: "success", result: [{ text: "ok" }] },
      ],
    },
    { id: "m3", timestamp: "2026-01-05T09:01:00.000Z", type: "user", content: [{ text: "Second task" }] },
    {
      id: "m4",
      timestamp: "2026-01-05T09:01:05.000Z",
      type: "gemini",
      content: "Done.",
      tokens: { input: 5, output: 2 },
    },
  ];
  const fields = { sessionId: "s1", projectHash: "h", startTime: "2026-01-05T09:00:00.000Z", lastUpdated: "x" };
  const forms = {
    pretty: Buffer.from(JSON.stringify({ ...fields, messages }, null, 2)),
    compact: Buffer.from(JSON.stringify({ ...fields, messages })),
    "compact, with a newline": Buffer.from(`${JSON.stringify({ ...fields, messages })}\n`),
    "messages alone": Buffer.from(JSON.stringify({ messages })),
  };

  test.each(Object.entries(forms))("is read, %s", (_, bytes) => {
    expect(analyzer.readSlice(bytes, 0)).toEqual(
      slice(bytes.length, "m4", used("gemini-2.5-pro", 2, [45, 12, 60, 0]), {
        prompts: ["First task", "Second task"],
        files: ["a.txt"],
        lastAnswer: "Done.",
      }),
    );
    expect(analyzer.isWhole?.(bytes)).toBe(true);
    const { entries, tokens } = analyzer.read(bytes);
    expect(entries.map((entry) => entry.type)).toEqual([
      "prompt",
      "answer",
      "tool-use",
      "tool-result",
      "prompt",
      "answer",
    ]);
    expect(tokens.input).toBe(45);
  });

  test("a turn is what follows the last entry before it", () => {
    expect(analyzer.readSlice(forms.pretty, 0, "m2")).toMatchObject({
      prompts: ["Second task"],
      files: [],
      tokens: { input: 5, output: 2 },
    });
  });

  test("a call that is over without a result belongs to its turn alone", () => {
    const call = (status?: string) => ({ id: "c1", name: "write_file", args: { file_path: "a.txt" }, status });
    const lastId = (status?: string) => {
      const [asked, answered] = messages;
      const turn = [asked, { ...answered, toolCalls: [call(status)] }];
      return analyzer.readSlice(Buffer.from(JSON.stringify({ ...fields, messages: turn })), 0).lastId;
    };
    for (const status of ["success", "error", "cancelled", undefined]) expect(lastId(status)).toBe("m2");
    for (const status of ["executing", "awaiting_approval"]) expect(lastId(status)).toBe("m1");
  });

  test("tokens that the agent did not count are unknown, not zero", () => {
    const uncounted = messages.map(({ tokens: _, ...message }) => message);
    const bytes = Buffer.from(JSON.stringify({ messages: uncounted }));
    expect(analyzer.readSlice(bytes, 0).tokensUnknown).toBe(true);
    expect(analyzer.read(bytes).tokensUnknown).toBe(true);
  });

  test("messages without ids are read in their order", () => {
    const bytes = Buffer.from(JSON.stringify({ messages: messages.map(({ id: _, ...message }) => message) }));
    expect(analyzer.readSlice(bytes, 0).prompts).toEqual(["First task", "Second task"]);
  });

  test("a document that is still being written is not taken for one", () => {
    expect(analyzer.isWhole?.(forms.pretty.subarray(0, -10))).toBe(false);
  });
});
