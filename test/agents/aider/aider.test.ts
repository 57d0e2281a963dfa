import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createAgent } from "../../../src/agents/builtin/aider/adapter.ts";
import profileJson from "../../../src/agents/builtin/aider/profile.json" with { type: "json" };
import type { Profile } from "../../../src/agents/contract/profile.ts";

const agent = createAgent(profileJson as unknown as Profile);
const { analyzer, watcher } = agent;
if (!analyzer || !watcher) throw new Error("a capability is missing");
const history = readFileSync(join(import.meta.dirname, "transcripts", "chat.history.md"));
const text = history.toString("utf8");
const upTo = (mark: string) => Buffer.from(text.slice(0, text.indexOf(mark)));

test("an appended line starts a session, is a prompt, or is work", () => {
  expect(watcher.reader().read(history)).toEqual([
    { sign: "session", id: "2026-01-05T09-00-00" },
    { sign: "work" },
    { sign: "prompt", text: "Write a greeting\ninto a file of its own" },
    { sign: "work" },
    { sign: "prompt", text: "Explain it" },
    { sign: "work" },
    { sign: "session", id: "2026-01-06T10-30-00" },
    { sign: "work" },
    { sign: "prompt", text: "Make it formal" },
    { sign: "work" },
  ]);
});

test("a slice tells prompts, files, tokens, model and the last words", () => {
  const first = analyzer.readSlice(upTo("#### Explain"), 10);
  expect(first).toMatchObject({
    prompts: ["Write a greeting\ninto a file of its own"],
    files: ["greeting.txt"],
    tokens: { input: 2300, output: 120, cacheRead: 900, cacheWrite: 1100 },
    model: "example/model-1",
    interrupted: false,
  });
  expect(first.lastAnswer).toStartWith(
    "I'll make a new file for it.\n\n#### A heading of the model's own\n\n> a quotation",
  );
  const all = analyzer.readSlice(history, 0);
  expect(all).toMatchObject({ model: "example/model-2", interrupted: true, end: history.length });
  expect(all.tokens).toEqual({ input: 3500, output: 165, cacheRead: 900, cacheWrite: 1100 });
});

test("the conversation has its entries where they stand", () => {
  const { entries } = analyzer.read(history);
  expect(entries.filter(({ type }) => type === "prompt").map(({ text: words }) => words)).toEqual([
    "/add README.md",
    "Write a greeting\ninto a file of its own",
    "Explain it",
    "Make it formal",
  ]);
  const prompt = entries.find(({ text: words }) => words === "Explain it");
  expect(history.toString("utf8", prompt?.start, prompt?.end)).toBe("#### Explain it  ");
});

const signsOf = (...parts: string[]) => {
  const reader = watcher.reader();
  return parts.flatMap((part) => reader.read(Buffer.from(part)));
};
const EDIT = "#### Write it  \n\nI write it.\n\ngreeting.txt\n```\nhello\n```\n\n> Tokens: 598 sent, 14 received.  \n";

test("an edit that was announced is pending until it is applied or refused", () => {
  const prompt = { sign: "prompt" as const, text: "Write it" };
  const pending = { sign: "work" as const, pending: true as const };
  expect(signsOf(EDIT)).toEqual([prompt, pending]);
  const asked = "> greeting.txt  \n> Create new file? (Y)es/(N)o [Yes]: y  \n";
  expect(signsOf(EDIT, asked)).toEqual([prompt, pending, pending]);
  expect(signsOf(EDIT, asked, "> Applied edit to greeting.txt  \n").at(-1)).toEqual({ sign: "work" });
  expect(signsOf(EDIT, "> Create new file? (Y)es/(N)o [Yes]: n  \n").at(-1)).toEqual({ sign: "work" });
  expect(signsOf("#### Explain  \n\nIt says\n```\nhello\n```\n> Tokens: 5 sent, 4 received.  \n").at(-1)).toEqual({
    sign: "work",
  });
  expect(signsOf("#### Go  \n\na.ts\n```\n<<<<<<< SEARCH\na\n=======\nb\n").at(-1)).toEqual(pending);
});

test("what a command such as /add reports is no work", () => {
  expect(signsOf("#### /add doc.txt  \n> Added doc.txt to the chat  \n")).toEqual([]);
  expect(signsOf("#### /add a  \n", "> Added a to the chat  \n", "#### Go  \n", "Gone.\n")).toEqual([
    { sign: "prompt", text: "Go" },
    { sign: "work" },
  ]);
});

test("nothing in it throws", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 30 }), (hits) => {
      const damaged = Buffer.from(history);
      for (const [at, value] of hits) damaged[at % damaged.length] = value;
      analyzer.readSlice(damaged, 0);
      watcher.reader().read(damaged);
    }),
  );
});
