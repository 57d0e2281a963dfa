import { describe, expect, test } from "bun:test";
import type { Conversation, Entry } from "../../model/conversation.ts";
import { answerBefore, readAs } from "./line-rationale.ts";

function entry(type: Entry["type"], text: string, tool: Partial<Entry> = {}): Entry {
  const blank = { id: null, time: null, toolName: null, toolUseId: null, toolInput: null, files: [], start: 0, end: 0 };
  return { ...blank, type, text, ...tool };
}

function wrote(file: string, content: string): Entry {
  return entry("tool-use", "", { toolName: "Write", toolInput: { file_path: file, content }, files: [file] });
}

function conversation(...entries: Entry[]): Conversation {
  return { entries, title: null, model: null, tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } };
}

describe("the explanation at the time a line was written", () => {
  const talk = conversation(
    entry("prompt", "Greet"),
    entry("answer", "First the greeting."),
    wrote("/home/ada/project/src/hello.ts", "say('hello');\n"),
    entry("answer", "Now the farewell."),
    entry("thinking", "hm"),
    wrote("/home/ada/project/src/bye.ts", "say('bye');\n"),
    entry("prompt", "Once more"),
    wrote("/home/ada/project/src/more.ts", "say('more');\n"),
  );

  test("the text directly before the tool use that wrote the line", () => {
    expect(answerBefore(talk, "src/hello.ts", "  say('hello');")).toBe("First the greeting.");
    expect(answerBefore(talk, "src/bye.ts", "say('bye');")).toBe("Now the farewell.");
  });

  test("nothing where nothing was said in that turn, or another file was written, or the line is too common", () => {
    expect(answerBefore(talk, "src/more.ts", "say('more');")).toBeNull();
    expect(answerBefore(talk, "other/hello.ts", "say('hello');")).toBeNull();
    expect(answerBefore(talk, "src/hello.ts", "say('bye');")).toBeNull();
    expect(answerBefore(talk, "src/hello.ts", ");")).toBeNull();
  });
});

test("an agent is known by its registry name and by the name that checkpoints have", async () => {
  const line = { type: "user", uuid: "u", parentUuid: null, sessionId: "s", message: { role: "user", content: "Hi" } };
  const bytes = Buffer.from(`${JSON.stringify({ ...line, isSidechain: false })}\n`);
  for (const name of ["claude-code", "Claude Code"]) {
    expect((await readAs(name, bytes))?.entries.map(({ text }) => text)).toEqual(["Hi"]);
  }
  expect(await readAs("Factory AI Droid", bytes)).not.toBeNull();
  expect(await readAs("Nobody's Agent", bytes)).toBeNull();
});
