import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ForkRequest } from "../../../src/agents/contract/agent.ts";
import { shellText } from "../../../src/model/command.ts";
import { jsonl } from "../recorded.ts";
import { analyzer, forker, linesOf, promptStarts, transcript } from "./recorded.ts";

const session = transcript("session");
const starts = promptStarts(session);
const PATH = "/home/dev/proj/.git/backtrail/opencode/ses_e16fb61ceffeMnH8aMVcBOAJrO.jsonl";

interface Exported {
  info: Record<string, unknown> & { id: string; title: string };
  messages: { info: Record<string, unknown> & { id: string; parentID?: string }; parts: Record<string, unknown>[] }[];
}

function fork(bytes: Uint8Array, given: Partial<ForkRequest> = {}) {
  const request = { lastId: null, newSessionId: "seed", transcriptPath: PATH, projectRoot: "/home/dev/proj" };
  return forker.fork({ ...request, title: "Say hello", bytes, ...given });
}

function exported(bytes: Uint8Array, given: Partial<ForkRequest> = {}): Exported {
  return JSON.parse(Buffer.from(fork(bytes, given).content).toString("utf8")) as Exported;
}

function idsIn(value: Exported): string[] {
  return value.messages.flatMap(({ info, parts }) => [info.id, ...parts.map((part) => String(part["id"]))]);
}

test("cut before the second prompt, it holds the first turn under new ids", () => {
  const { info, messages } = exported(session.subarray(0, starts[1]));
  expect(messages.map((message) => message.info["role"])).toEqual(["user", "assistant", "assistant"]);
  expect(info.title).toBe("[Fork] Say hello");
  expect(info["slug"]).toBe(linesOf(session)[0]?.info["slug"]);
  const first = messages[0]?.info.id ?? "";
  expect(messages.slice(1).map((message) => message.info.parentID)).toEqual([first, first]);
  for (const { info: message, parts } of messages) {
    expect(message["sessionID"]).toBe(info.id);
    for (const part of parts) expect(part).toMatchObject({ sessionID: info.id, messageID: message.id });
  }
});

test("no id is one of the original's, and all stay in their order", () => {
  const original = linesOf(session.subarray(0, starts[1])).filter((line) => line.type === "message");
  const old = original.flatMap((line) => [line.info.id, ...(line.parts ?? []).map((part) => part.id)]);
  const ids = idsIn(exported(session.subarray(0, starts[1])));
  expect(ids).toHaveLength(old.length);
  expect(ids.filter((id) => old.includes(id))).toEqual([]);
  expect(ids.map((id) => id.slice(0, 16))).toEqual(old.map((id) => id.slice(0, 16)));
  expect(ids.every((id) => /^(msg|prt)_[0-9a-f]{12}[0-9A-Za-z]{14}$/.test(id))).toBe(true);
});

test("two forks of one conversation share no ids", () => {
  const cut = session.subarray(0, starts[1]);
  fc.assert(
    fc.property(fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 2 }), ([a, b]) => {
      const [one, other] = [exported(cut, { newSessionId: a }), exported(cut, { newSessionId: b })];
      const ids = [one.info.id, ...idsIn(one), other.info.id, ...idsIn(other)];
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: 30 },
  );
});

test("words that look like ids stay as they were written", () => {
  const lines = linesOf(session).slice(0, 5);
  const id = lines[1]?.info.id ?? "";
  const parts = lines[1]?.parts?.map((part) => ({ ...part, text: `What is ${id}?` }));
  const text = JSON.stringify(exported(jsonl([lines[0], { ...lines[1], parts }, ...lines.slice(2)])));
  expect(text).toContain(`What is ${id}?`);
});

test("it can be cut at a message, and unfinished parts are left out", () => {
  const lines = linesOf(session);
  const lastId = lines[4]?.info.id ?? "";
  expect(exported(session, { lastId }).messages).toHaveLength(3);
  // The answer was still being given, and then a compaction was only asked for.
  expect(exported(jsonl(lines.slice(0, 11))).messages).toHaveLength(8);
  expect(exported(jsonl(lines.slice(0, 12))).messages).toHaveLength(9);
  expect(exported(jsonl(lines.slice(0, 13))).messages).toHaveLength(9);
  expect(exported(jsonl(lines.slice(0, 14))).messages).toHaveLength(11);
});

test("without a message there is nothing to continue", () => {
  expect(fork(session.subarray(0, starts[0])).content).toHaveLength(0);
});

test("a fork that is forked again is titled once, and costs what its turns cost", () => {
  const bytes = session.subarray(0, starts[1]);
  const { info } = exported(bytes, { title: "[Fork] [Fork] Say\nhello" });
  expect(info.title).toBe("[Fork] Say hello");
  expect(info["tokens"]).toMatchObject({ input: analyzer.readSlice(bytes, 0).tokens.input });
});

test("the command imports and continues it, for any directory name", () => {
  const plain = fork(session);
  expect(plain.transcriptPath).toBe(`/home/dev/proj/.git/backtrail/opencode/forks/${plain.sessionId}.json`);
  expect(plain.command && shellText(plain.command)).toBe(
    `opencode import ${plain.transcriptPath} && opencode -s ${plain.sessionId}`,
  );
  const odd = fork(session, { transcriptPath: "/home/it's mine/$(x)/opencode/a.jsonl" });
  expect(odd.command && shellText(odd.command)).toContain(
    `'/home/it'\\''s mine/$(x)/opencode/forks/${odd.sessionId}.json'`,
  );
  expect(shellText(forker.resumeCommand("ses_1"))).toBe("opencode -s ses_1");
});

test("a lost record of the session is no reason to lose the conversation", () => {
  const { info } = exported(jsonl(linesOf(session).filter((line) => line.type === "message")));
  expect(info).toMatchObject({ directory: "/home/dev/proj", version: "1.18.33", projectID: "global" });
});
