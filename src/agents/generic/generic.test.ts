import { describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { slice, used } from "../../../test/agents/slice.ts";
import { temporaryDirectory } from "../../../test/support/index.ts";
import { shellText } from "../../model/command.ts";
import type { LinesSection, Profile } from "../contract/profile.ts";
import { describedAgent } from "./agent.ts";
import { withText } from "./copy.ts";

const LINES: LinesSection = {
  type: ["$.role"],
  types: { user: "prompt", model: "answer", call: "tool-use", result: "tool-result", cut: "compaction" },
  text: ["$.body"],
  id: ["$.n"],
  session_id: ["$.session"],
  time: ["$.at"],
  model: ["$.by"],
  title: ["$.title"],
  message_id: ["$.message"],
  tokens: { input: ["$.used.in"], output: ["$.used.out"], cache_read: ["$.used.cached"] },
  blocks: {
    at: ["$.parts"],
    type: ["$.kind"],
    text: ["$.body"],
    tool_name: ["$.tool"],
    tool_use_id: ["$.call"],
    tool_input: ["$.with"],
    file_paths: ["$.with.file", "$.with.files"],
  },
};

const agent = describedAgent({
  v: 1,
  id: "sample",
  display_name: "Sample",
  detection: { min_score: 1, score_rules: [] },
  hooks: { settings: {}, install: {}, fields: {}, events: {}, tools: { put: "write", look: "read" } },
  transcript: {
    format: "jsonl",
    directory: ".sample",
    title_prefix: "[Fork] ",
    recognised_by: [],
    lines: LINES,
    fork: true,
  },
  protected_dirs: [],
  resume: ["sample", "--continue", "{session}"],
  tested_versions: [],
} satisfies Profile);
const { analyzer, forker } = agent;
if (!analyzer || !forker) throw new Error("described, but without its capabilities");

const call = (id: string, tool: string, input: object) => ({ kind: "call", call: id, tool, with: input });
const result = (id: string, body: string) => ({ kind: "result", call: id, body });
const VALUES = [
  { session: "old", title: "First words" },
  { session: "old", n: "1", role: "user", body: "make a" },
  {
    session: "old",
    n: "2",
    role: "model",
    by: "m-1",
    message: "x",
    used: { in: 10, out: 2, cached: 5 },
    parts: [{ kind: "text", body: "I will" }, call("c1", "put", { file: "a" }), call("c2", "look", { file: "b" })],
  },
  { session: "old", n: "3", role: "user", parts: [result("c1", "ok"), { kind: "text", body: "reminder" }] },
  { session: "old", n: "4", role: "user", parts: [result("c2", "b")] },
  { session: "old", n: "5", role: "model", by: "m-2", message: "x", used: { in: 12, out: 3 }, body: "made" },
  { session: "old", n: "6", role: "user", body: "and old too", about: "old" },
  { session: "old", n: "7", role: "model", parts: [call("c3", "put", { files: ["c", "d"] })] },
];
const text = VALUES.map((value) => `${JSON.stringify(value)}\n`).join("");
const bytes = Buffer.from(text);

describe("a described transcript", () => {
  test("tells prompts, files, tokens, model and where it can be cut", () => {
    expect(analyzer.readSlice(bytes, 100)).toEqual(
      slice(100 + bytes.length, "6", used("m-2", 1, [12, 3, 0, 0]), {
        prompts: ["make a", "and old too"],
        files: ["a", "c", "d"],
        lastAnswer: "made",
      }),
    );
  });

  test("is a conversation with the names of its tools", () => {
    const { entries, title, tokens } = analyzer.read(bytes);
    expect(title).toBe("First words");
    expect(tokens.input).toBe(12);
    expect(entries.map(({ type, toolName }) => [type, toolName])).toEqual([
      ["prompt", null],
      ["answer", null],
      ["tool-use", "put"],
      ["tool-use", "look"],
      ["tool-result", "put"],
      ["note", null],
      ["tool-result", "look"],
      ["answer", null],
      ["prompt", null],
      ["tool-use", "put"],
    ]);
    const first = entries[0];
    expect(JSON.parse(text.slice(first?.start, first?.end))).toEqual(VALUES[1]);
  });

  test("a torn last line, foreign lines and lines of other kinds are passed over", () => {
    const foreign = Buffer.from(
      `[1]\nnull\n"x"\n{"role":7}\n{"role":"user","parts":[null,7,"loose words"]}\n{"role":"us`,
    );
    expect(analyzer.readSlice(foreign, 0)).toMatchObject({ prompts: ["loose words"], end: foreign.length - 11 });
  });

  test("nothing in it throws", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(damage, (hits) => {
        const damaged = Buffer.from(bytes);
        for (const [at, value] of hits) damaged[at % damaged.length] = value;
        analyzer.readSlice(damaged, 0);
        analyzer.read(damaged);
        forker.fork({ ...REQUEST, bytes: damaged });
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        const lines = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
        analyzer.readSlice(lines, 0);
        analyzer.read(lines);
      }),
    );
  });
});

const REQUEST = {
  bytes,
  lastId: null,
  transcriptPath: "/home/dev/.sample/old.jsonl",
  newSessionId: "new-1",
  projectRoot: "/home/dev/project",
  title: "First words",
};

describe("its copy", () => {
  test("ends where it is whole, under the new id, with everything else as it was", () => {
    const { content, transcriptPath, sessionId } = forker.fork(REQUEST);
    const lines = Buffer.from(content).toString().trimEnd().split("\n");
    expect(transcriptPath).toBe("/home/dev/.sample/new-1.jsonl");
    expect(sessionId).toBe("new-1");
    expect(lines).toHaveLength(7);
    expect(JSON.parse(lines[0] ?? "")).toEqual({ session: "new-1", title: "[Fork] First words" });
    expect(lines[6]).toBe(JSON.stringify({ ...VALUES[6], session: "new-1" }));
    expect(shellText(forker.resumeCommand("new-1"))).toBe("sample --continue new-1");
  });

  test("can end at an entry", () => {
    const { content } = forker.fork({ ...REQUEST, lastId: "5" });
    expect(analyzer.readSlice(content, 0)).toMatchObject({ prompts: ["make a"], lastId: "5" });
    const inside = forker.fork({ ...REQUEST, lastId: "3" });
    expect(analyzer.readSlice(inside.content, 0).lastId).toBe("1");
  });

  test("is beside the original, by the id in its name or its directory's name", () => {
    const at = (transcriptPath: string) => forker.fork({ ...REQUEST, transcriptPath }).transcriptPath;
    expect(at("/home/dev/.sample/chat-old.jsonl")).toBe("/home/dev/.sample/chat-new-1.jsonl");
    expect(at("/home/dev/.sample/old/messages.jsonl")).toBe("/home/dev/.sample/new-1/messages.jsonl");
    expect(at("/home/old/.sample/x/chat.jsonl")).toBe("/home/old/.sample/x/new-1.jsonl");
    expect(() => forker.fork({ ...REQUEST, newSessionId: "../x" })).toThrow("can't be the id");
  });

  test("replaces one text and no other character", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.string(), (rest, old, replacement) => {
        const value = { ...rest, inner: { id: old, again: old } };
        const written = JSON.stringify(value, null, 1).replaceAll("\n", " ");
        const changed = withText(written, "$.inner.id", replacement);
        expect(JSON.parse(changed)).toEqual({ ...JSON.parse(written), inner: { id: replacement, again: old } });
      }),
    );
    expect(withText('{"id" : "a", "big": 12345678901234567890}', "$.id", "b")).toBe(
      '{"id" : "b", "big": 12345678901234567890}',
    );
  });
});

test("waits until the answer is there, and not for ever", async () => {
  using place = temporaryDirectory();
  const path = place.at("t.jsonl");
  writeFileSync(path, text.split("\n").slice(0, 5).join("\n").concat("\n"));
  const event = { type: "TurnEnd" } as never;
  const waiting = agent.preparer?.waitForTurn(event, path, 0);
  setTimeout(() => appendFileSync(path, `${JSON.stringify(VALUES[5])}\n`), 30);
  await waiting;
  expect(readFileSync(path, "utf8")).toContain("made");
  await agent.preparer?.waitForTurn(event, place.at("missing"), 0);
});
