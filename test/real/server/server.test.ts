import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { anthropic } from "./anthropic.ts";
import type { Answer, ModelCall } from "./protocol.ts";
import { Received, totalUsage } from "./received.ts";
import { type Block, failing, reply, scenario, slowly, stalling, toolUse } from "./scenario.ts";
import { type ModelServer, startServer } from "./server.ts";

let directory: string;
let server: ModelServer;
let received: Received;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "bt-server-"));
  received = new Received(join(directory, "received.jsonl"));
  const write = reply("Writing.", toolUse("Write", { file_path: "/x/å.txt", content: "hé\n🙂" }));
  server = await startServer({
    protocols: [anthropic],
    received,
    scenarios: [
      scenario("write", [write, reply("Done.")]),
      scenario("slow", [slowly(5, reply("one two three four five six"))]),
      scenario("stall", [stalling(reply("and then"))]),
      scenario("busy", [failing(529, "come back later")]),
    ],
  });
});

afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

test("an answer in one piece, and the received request", async () => {
  const response = await ask("please [[write]]", { stream: false, session: "s-1" });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    type: "message",
    role: "assistant",
    stop_reason: "tool_use",
    content: [
      { type: "text", text: "Writing." },
      { type: "tool_use", name: "Write", input: { file_path: "/x/å.txt", content: "hé\n🙂" } },
    ],
  });
  const call = received.last({ session: "s-1" });
  expect(call).toMatchObject({
    scenario: "write",
    index: 0,
    status: 200,
    model: "m",
    tools: ["Write"],
    subagent: null,
  });
  expect(received.lastOutline()).toEqual(["user: please [[write]]"]);
  expect(totalUsage([call, call]).input).toBe(call.usage.input * 2);
  expect(received.wasComplete(call)).toBe(true);
});

test("a streamed answer holds the same as one in one piece", () => {
  const texts = fc.string({ unit: "grapheme", maxLength: 60 });
  const block: fc.Arbitrary<Block> = fc.oneof(
    texts.map((text): Block => ({ type: "text", text })),
    texts.map((text): Block => ({ type: "thinking", text })),
    fc.dictionary(texts, fc.oneof(texts, fc.integer(), fc.boolean())).map((input) => toolUse("Tool", { ...input })),
  );
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
      const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
      const answer: Answer = { reply: { blocks }, scenario: "s", index: 0, key: "1", id: "0001", usage };
      const call: ModelCall = { conversation: [], model: "m", stream: true, tools: [], session: null, subagent: null };
      const sent = anthropic.pieces(call, answer).map((piece) => piece.data);
      expect(assemble(sent.join(""))).toEqual(anthropic.whole(call, answer));
    }),
  );
});

test("a slow answer arrives whole", async () => {
  const response = await ask("[[slow]]", { stream: true });
  expect(assemble(await response.text())).toMatchObject({ content: [{ text: "one two three four five six" }] });
});

test("a stalling answer never ends, and an agent that hangs up is noticed", async () => {
  const controller = new AbortController();
  const response = await ask("[[stall]]", { stream: true, signal: controller.signal });
  const reader = response.body?.getReader();
  let text = "";
  while (!text.includes("and then")) text += new TextDecoder().decode((await reader?.read())?.value);
  expect(text).not.toContain("message_stop");
  const call = received.last();
  expect(received.wasComplete(call)).toBeNull();
  controller.abort();
  while (received.wasComplete(call) === null) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(received.wasComplete(call)).toBe(false);
});

test("errors have the vendor's shape", async () => {
  const busy = await ask("[[busy]]", { stream: true });
  expect(busy.status).toBe(529);
  expect(await busy.json()).toEqual({ type: "error", error: { type: "overloaded_error", message: "come back later" } });
  expect(totalUsage([received.last()]).output).toBe(0);
  const bad = await fetch(`${server.url}/v1/messages`, { method: "POST", body: "{" });
  expect(bad.status).toBe(400);
  const lost = await fetch(`${server.url}/v1/elsewhere`);
  expect(lost.status).toBe(404);
  expect(received.records().at(-1)).toMatchObject({ type: "other", path: "/v1/elsewhere", status: 404 });
});

test("token counts and models", async () => {
  const body = JSON.stringify({ model: "m", messages: [] });
  const counted = await fetch(`${server.url}/v1/messages/count_tokens`, { method: "POST", body });
  expect(await counted.json()).toEqual({ input_tokens: Math.ceil(body.length / 4) });
  const models = await fetch(`${server.url}/v1/models`);
  expect(await models.json()).toMatchObject({ data: [], has_more: false });
});

test("calls of subagents and asides are distinguished", async () => {
  await (await ask("from within", { subagent: "a1", session: "s-9" })).text();
  await (await ask("name this", { tools: [], session: "s-9" })).text();
  expect(received.calls({ session: "s-9" })).toEqual([]);
  expect(
    received
      .all()
      .filter((call) => call.session === "s-9")
      .map((call) => call.subagent),
  ).toEqual(["a1", null]);
  expect(() => received.last({ session: "s-9" })).toThrow("received no call of s-9");
});

interface Asking {
  stream?: boolean;
  session?: string;
  subagent?: string;
  tools?: string[];
  signal?: AbortSignal;
}

function ask(content: string, asking: Asking): Promise<Response> {
  const headers: Record<string, string> = {};
  if (asking.session) headers["x-claude-code-session-id"] = asking.session;
  if (asking.subagent) headers["x-claude-code-agent-id"] = asking.subagent;
  const tools = (asking.tools ?? ["Write"]).map((name) => ({ name }));
  const body = { model: "m", stream: asking.stream ?? false, tools, messages: [{ role: "user", content }] };
  const init = { method: "POST", headers, body: JSON.stringify(body), signal: asking.signal ?? null };
  return fetch(`${server.url}/v1/messages`, init);
}

/** What a client makes of a stream. */
function assemble(stream: string): unknown {
  // biome-ignore lint/suspicious/noExplicitAny: events of a foreign protocol, compared as a whole at the end
  type Loose = any;
  let message: Loose;
  const inputs: string[] = [];
  for (const line of stream.split("\n").filter((each) => each.startsWith("data: "))) {
    const event: Loose = JSON.parse(line.slice("data: ".length));
    const block = message?.content[event.index];
    if (event.type === "message_start") message = event.message;
    if (event.type === "content_block_start") message.content[event.index] = event.content_block;
    if (event.type === "content_block_delta") {
      const { delta } = event;
      if (delta.type === "text_delta") block.text += delta.text;
      if (delta.type === "thinking_delta") block.thinking += delta.thinking;
      if (delta.type === "signature_delta") block.signature = delta.signature;
      if (delta.type === "input_json_delta") inputs[event.index] = (inputs[event.index] ?? "") + delta.partial_json;
    }
    if (event.type === "message_delta") {
      Object.assign(message, event.delta);
      Object.assign(message.usage, event.usage);
    }
  }
  for (const [index, json] of inputs.entries()) if (json) message.content[index].input = JSON.parse(json);
  return message;
}
