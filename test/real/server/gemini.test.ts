import { expect, test } from "bun:test";
import { outline } from "./conversation.ts";
import { gemini } from "./gemini.ts";
import { type Answer, type HttpRequest, isModelCall, type ModelCall } from "./protocol.ts";
import { reply, thinking, toolUse } from "./scenario.ts";

const USAGE = { input: 10, output: 20, cacheRead: 300, cacheWrite: 4000 };

test("a conversation with tools reads like one", () => {
  const call = read("streamGenerateContent", {
    tools: [{ functionDeclarations: [{ name: "write_file" }, { name: "glob" }] }],
    contents: [
      { role: "user", parts: [{ text: "<session_context>\nhere\n</session_context>" }, { text: "Do it" }] },
      { role: "model", parts: [{ text: "Hm", thought: true }, { text: "Now." }, { functionCall: { name: "glob" } }] },
      { role: "user", parts: [{ functionResponse: { name: "glob", response: { output: "a\nb" } } }] },
      { role: "user", parts: [{ functionResponse: { name: "glob", response: { error: "no" } } }, { inlineData: {} }] },
    ],
  });
  expect(call).toMatchObject({ model: "m", stream: true, tools: ["write_file", "glob"], session: null });
  expect(outline(call.conversation)).toEqual([
    "user: Do it",
    "assistant: Now.",
    "assistant uses glob",
    "result: a",
    "failure: no",
    "user sends inlineData",
  ]);
});

test("an answer in pieces says the same as the whole, and ends with what it cost", () => {
  const call = read("generateContent", { contents: [] });
  const answer: Answer = {
    reply: reply(thinking("Let me see"), "A text that is longer than a piece", toolUse("glob", { pattern: "*" })),
    scenario: "s",
    index: 0,
    key: "1",
    id: "0001",
    usage: USAGE,
  };
  const pieces = gemini.pieces(call, answer);
  expect(pieces.filter((piece) => piece.last)).toEqual([pieces.at(-1) as never]);
  const sent = pieces.map((piece) => JSON.parse(piece.data.slice("data: ".length)) as Sent);
  const text = (list: Sent[]) =>
    list
      .flatMap((each) => each.candidates[0]?.content.parts ?? [])
      .map(textOf)
      .join("");
  expect(text(sent)).toBe(text([gemini.whole(call, answer) as Sent]));
  expect(sent.filter((each) => each.usageMetadata)).toHaveLength(1);
  expect(sent.at(-1)?.usageMetadata).toEqual({
    promptTokenCount: 310,
    cachedContentTokenCount: 300,
    candidatesTokenCount: 17,
    thoughtsTokenCount: 3,
    totalTokenCount: 330,
  });
});

test("the agent's small questions are decided at once", () => {
  const generationConfig = { responseMimeType: "application/json", responseJsonSchema: { next_speaker: {} } };
  const answer = gemini.read(request("generateContent", { contents: [], generationConfig }));
  expect(JSON.stringify(answer)).toContain('next_speaker\\":\\"user');
});

test("other requests are left to other handlers, invalid ones are refused", () => {
  expect(gemini.read({ method: "POST", path: "/v1/messages", headers: {}, body: {} })).toBeNull();
  expect(gemini.read(request("generateContent", {}))).toMatchObject({ status: 400 });
  expect(gemini.read(request("countTokens", {}))).toMatchObject({ status: 200 });
});

interface Sent {
  candidates: { content: { parts: { text?: string; functionCall?: unknown }[] } }[];
  usageMetadata?: object;
}

function textOf(part: { text?: string; functionCall?: unknown }): string {
  return part.text ?? JSON.stringify(part.functionCall);
}

function request(method: string, body: unknown): HttpRequest {
  return { method: "POST", path: `/v1beta/models/m:${method}`, headers: {}, body };
}

function read(method: string, body: unknown): ModelCall {
  const call = gemini.read(request(method, body));
  if (!call || !isModelCall(call)) throw new Error("not a call to the model");
  return call;
}
