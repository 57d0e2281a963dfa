import { expect, test } from "bun:test";
import fc from "fast-check";
import { outline } from "./conversation.ts";
import { openaiChat, reported } from "./openai-chat.ts";
import { type Answer, type HttpRequest, isModelCall, type ModelCall } from "./protocol.ts";
import { type Block, reply, toolUse } from "./scenario.ts";

const USAGE = { input: 1, output: 2, cacheRead: 30, cacheWrite: 400 };

test("a conversation with tools reads like one", () => {
  const call = read({
    model: "m",
    stream: true,
    tools: [{ type: "function", function: { name: "write" } }],
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Do it" }, { type: "image_url" }] },
      { role: "assistant", content: "Now.", tool_calls: [use("1", "write", '{"a":1}'), use("2", "read", "torn{")] },
      { role: "tool", tool_call_id: "1", content: "Written\nwell" },
      { role: "tool", tool_call_id: "2", content: [{ type: "text", text: "Read" }] },
      { role: "assistant", content: "Done." },
    ],
  });
  expect(call).toMatchObject({ model: "m", stream: true, tools: ["write"], session: null, subagent: null });
  expect(call.conversation).toHaveLength(5);
  expect(call.conversation[2]?.parts[1]).toEqual({ type: "tool-use", id: "1", name: "write", input: { a: 1 } });
  expect(outline(call.conversation)).toEqual([
    "user: Do it",
    "user sends image_url",
    "assistant: Now.",
    "assistant uses write",
    "assistant uses read",
    "result: Written",
    "result: Read",
    "assistant: Done.",
  ]);
});

test("a subagent's request names it and the session above it", () => {
  const body = { model: "m", messages: [] };
  expect(read(body, { "x-session-id": "s" })).toMatchObject({ session: "s", subagent: null });
  const below = { "x-session-id": "child", "x-parent-session-id": "s" };
  expect(read(body, below)).toMatchObject({ session: "s", subagent: "child" });
});

test("a request that is not a call is refused or left to other handlers", () => {
  expect(openaiChat.read(request({ model: "m" }))).toMatchObject({ status: 400 });
  expect(openaiChat.read({ ...request({}), path: "/v1/messages" })).toBeNull();
});

test("a streamed answer holds the same as one in one piece", () => {
  const texts = fc.string({ unit: "grapheme", maxLength: 60 });
  const block: fc.Arbitrary<Block> = fc.oneof(
    texts.map((text): Block => ({ type: "text", text })),
    texts.map((text): Block => ({ type: "thinking", text })),
    fc.dictionary(texts, fc.oneof(texts, fc.integer(), fc.boolean())).map((input) => toolUse("tool", { ...input })),
  );
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
      const answer = answerOf(blocks);
      const sent = openaiChat.pieces(CALL, answer).map((piece) => piece.data);
      expect(assemble(sent.join(""))).toEqual(openaiChat.whole(CALL, answer));
    }),
  );
});

test("tokens of the cache are among those of the input", () => {
  expect(openaiChat.whole(CALL, answerOf(reply("Hi").blocks))).toMatchObject({
    usage: { prompt_tokens: 431, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 30 } },
  });
  expect(reported(USAGE)).toEqual({ input: 401, output: 2, cacheRead: 30, cacheWrite: 0 });
});

const CALL: ModelCall = { conversation: [], model: "m", stream: true, tools: [], session: null, subagent: null };

function answerOf(blocks: Block[]): Answer {
  return { reply: { blocks }, scenario: "s", index: 0, key: "1", id: "0001", usage: USAGE };
}

function use(id: string, name: string, given: string) {
  return { id, type: "function", function: { name, arguments: given } };
}

function request(body: unknown, headers: HttpRequest["headers"] = {}): HttpRequest {
  return { method: "POST", path: "/v1/chat/completions", headers, body };
}

function read(body: unknown, headers?: HttpRequest["headers"]): ModelCall {
  const call = openaiChat.read(request(body, headers));
  if (!call || !isModelCall(call)) throw new Error("it was not understood");
  return call;
}

interface ToolCall {
  index?: number;
  id: string;
  type: string;
  function: { name: string; arguments: string };
}

interface Delta {
  content?: string;
  reasoning_content?: string;
  tool_calls?: ToolCall[];
}

interface Chunk {
  id: string;
  created: number;
  model: string;
  choices: { delta: Delta; finish_reason: string | null }[];
  usage?: unknown;
}

/** As a client puts a stream together. */
function assemble(stream: string): unknown {
  const events = stream.split("\n\n").filter((event) => event !== "");
  expect(events.pop()).toBe("data: [DONE]");
  const chunks = events.map((event) => JSON.parse(event.slice("data: ".length)) as Chunk);
  const [first] = chunks;
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const content = deltas.map((delta) => delta.content ?? "").join("");
  const thoughts = deltas.map((delta) => delta.reasoning_content ?? "").join("");
  const uses: ToolCall[] = [];
  for (const { index = 0, ...call } of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const begun = uses[index];
    if (begun) begun.function.arguments += call.function.arguments;
    else uses[index] = call;
  }
  const message = {
    role: "assistant",
    content: content === "" && uses.length > 0 ? null : content,
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(uses.length === 0 ? {} : { tool_calls: uses }),
  };
  const finish_reason = chunks.flatMap(({ choices }) => choices).find((choice) => choice.finish_reason)?.finish_reason;
  const usage = chunks.find((chunk) => chunk.usage)?.usage;
  return {
    id: first?.id,
    object: "chat.completion",
    created: first?.created,
    model: first?.model,
    choices: [{ index: 0, message, finish_reason }],
    usage,
  };
}
