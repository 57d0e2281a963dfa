import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonl } from "../recorded.ts";
import { slice, used } from "../slice.ts";
import { analyzer, forker, lines, linesOf, PATH, promptStarts, session } from "./recorded.ts";

/** What a turn added, as a hook at its end reads it. */
function turn(number: number) {
  const from = promptStarts[number - 1] ?? 0;
  return analyzer.readSlice(session.subarray(from, promptStarts[number]), from);
}

test("a turn: prompt, files, tokens, model, last words", () => {
  expect(turn(1)).toEqual(
    slice(promptStarts[1] ?? 0, "e674c3e3", used("model-1", 2, [2026, 69, 4600, 0]), {
      prompts: ["Say hello in a file [[first]]"],
      files: ["/home/dev/proj/greeting.txt"],
      lastAnswer: "Hello is there.",
    }),
  );
});

test("what a subagent used is counted with the turn that started it", () => {
  const result = lines.find((line) => line.message?.["toolName"] === "subagent");
  const details = result?.message?.["details"] as { results: { usage: { input: number } }[] };
  const without = jsonl(lines.slice(9, 15).filter((line) => line !== result));
  expect(turn(2).tokens.input - analyzer.readSlice(without, 0).tokens.input).toBe(details.results[0]?.usage.input ?? 0);
  expect(turn(2)).toMatchObject({ files: ["greeting.txt"], lastAnswer: "It is bigger." });
});

test("an interruption and a compaction are seen, and a summary is no answer", () => {
  expect(turn(3)).toMatchObject({ interrupted: true, lastAnswer: "And so on and on" });
  expect(turn(4)).toMatchObject({ interrupted: false, lastAnswer: "You said: On another branch" });
  expect(turn(5)).toMatchObject({ interrupted: false, prompts: ["After that"] });
  const prompted = jsonl([...lines.slice(15, 17), lines[17]]);
  expect(analyzer.readSlice(prompted, 0)).toMatchObject({ interrupted: false, lastAnswer: "And so on and on" });
});

test("in the middle of a turn, the last place to cut at is before the open tool use", () => {
  expect(analyzer.readSlice(jsonl(lines.slice(4, 6)), 0).lastId).toBe("c799a9de");
  expect(analyzer.readSlice(jsonl(lines.slice(4, 7)), 0).lastId).toBe("c799a9de");
  expect(analyzer.readSlice(jsonl(lines.slice(4, 8)), 0).lastId).toBe("3255d445");
});

test("a file counts unless its tool failed", () => {
  const failed = lines.map((line) =>
    line.message?.["toolName"] === "write" ? { ...line, message: { ...line.message, isError: true } } : line,
  );
  expect(analyzer.readSlice(jsonl(failed.slice(4, 9)), 0).files).toEqual([]);
  expect(analyzer.readSlice(jsonl(failed.slice(4, 6)), 0).files).toEqual(["/home/dev/proj/greeting.txt"]);
});

test("the conversation is the active branch, in order, with what all branches used", () => {
  const { entries, model, tokens, title } = analyzer.read(session);
  expect({ model, title }).toEqual({ model: "model-1", title: null });
  expect(entries.filter(({ type }) => type === "prompt").map(({ text }) => text)).toEqual([
    "Say hello in a file [[first]]",
    "Now make it bigger [[second]]",
    "On another branch",
    "After that",
  ]);
  expect(entries.slice(0, 6).map(({ type, text, toolName }) => [type, toolName ?? text])).toEqual([
    ["prompt", "Say hello in a file [[first]]"],
    ["answer", "I will write it."],
    ["tool-use", "write"],
    ["tool-use", "bash"],
    ["tool-result", "write"],
    ["tool-result", "bash"],
  ]);
  expect(entries.filter(({ type }) => type === "compaction")).toHaveLength(1);
  expect(tokens).toEqual(analyzer.readSlice(session, 0).tokens);
});

test("before the branch was left, it was active, and its interruption is reported", () => {
  const { entries } = analyzer.read(session.subarray(0, promptStarts[3]));
  expect(entries.slice(-3).map(({ text }) => text)).toEqual([
    "Go on for ever [[endless]]",
    "And so on and on",
    "Interrupted by the user",
  ]);
});

test("of a part without its beginning every line counts, whichever branch it is on", () => {
  const { entries } = analyzer.read(session.subarray(promptStarts[2]));
  expect(entries.filter(({ type }) => type === "prompt")).toHaveLength(3);
});

test("names, commands of the user's own and summaries of branches are read for what they are", () => {
  const parentId = "6d985119";
  const more = [
    { type: "session_info", id: "a1", parentId, timestamp: "2026-11-17T10:43:00.000Z", name: "A name" },
    { type: "message", id: "a2", parentId: "a1", message: { role: "bashExecution", command: "ls", output: "x" } },
    { type: "branch_summary", id: "a3", parentId: "a2", summary: "Left it", fromId: "a1", usage: { input: 7 } },
  ];
  const read = analyzer.read(jsonl([...lines, ...more]));
  expect(read.title).toBe("A name");
  expect(read.entries.slice(-2).map(({ type, text }) => [type, text])).toEqual([
    ["note", "! ls"],
    ["note", "Left it"],
  ]);
  expect(read.tokens.input - analyzer.read(session).tokens.input).toBe(7);
});

test("values of any kind in any place are read as far as they can be", () => {
  const places = ["type", "id", "parentId", "message", "summary", "usage", "timestamp", "cwd"] as const;
  const within = ["role", "content", "usage", "details", "toolCallId", "stopReason"] as const;
  fc.assert(
    fc.property(
      fc.nat(),
      fc.constantFrom(...places),
      fc.option(fc.constantFrom(...within)),
      fc.jsonValue(),
      (at, place, inner, value) => {
        const changed: Record<string, unknown>[] = structuredClone([...lines]);
        const line = changed[at % changed.length] ?? {};
        if (inner !== null && line["message"]) Object.assign(line["message"], { [inner]: value });
        else line[place] = value;
        stands(jsonl(changed));
      },
    ),
    { numRuns: 300 },
  );
});

test("entries that lead in a circle come to an end", () => {
  const circle = lines.map((line) => (line.id === "c799a9de" ? { ...line, parentId: "6d985119" } : line));
  stands(jsonl(circle));
  const starts = analyzer.read(jsonl(circle)).entries.map((entry) => entry.start);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  const request = { transcriptPath: PATH, projectRoot: "/home/dev/proj", title: "t", newSessionId: "new" };
  const ids = linesOf(forker.fork({ ...request, bytes: jsonl(circle), lastId: null }).content).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

function stands(bytes: Uint8Array): void {
  const slice = analyzer.readSlice(bytes, 7);
  expect(slice.end).toBeLessThanOrEqual(7 + bytes.length);
  expect(Object.values(slice.tokens).every((count) => count >= 0)).toBe(true);
  analyzer.read(bytes);
  const request = { lastId: slice.lastId, transcriptPath: PATH, projectRoot: "/home/dev/proj", title: "t" };
  forker.fork({ ...request, bytes, newSessionId: "new" });
}
