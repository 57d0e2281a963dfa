import { expect, test } from "bun:test";
import { outline } from "./conversation.ts";
import { openaiResponses } from "./openai-responses.ts";
import { isModelCall, type ModelCall } from "./protocol.ts";
import { choose, reply, type Scenario, scenario, toolUse } from "./scenario.ts";

const SCENARIOS: Scenario[] = [
  scenario("write", [
    reply("Writing.", toolUse("exec", { input: "text(1)" }), toolUse("spawn_agent", { message: "go" })),
    reply("Written."),
  ]),
];

const user = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const TOOLS = {
  type: "additional_tools",
  tools: [
    { type: "namespace", name: "functions", tools: [{ type: "custom", name: "exec" }] },
    { type: "namespace", name: "collaboration", tools: [{ type: "function", name: "spawn_agent" }] },
  ],
};

function ask(input: unknown, headers: Record<string, string> = {}): ModelCall {
  const body = { model: "m", stream: true, input, tools: [{ type: "function", name: "exec_command" }] };
  const read = openaiResponses.read({ method: "POST", path: "/v1/responses", headers, body });
  if (read === null || !isModelCall(read)) throw new Error("no call");
  return read;
}

/** The items of the streamed answer, as an agent would send them back. */
function answer(call: ModelCall): Record<string, unknown>[] {
  const choice = choose(SCENARIOS, call.conversation, true);
  const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
  const pieces = openaiResponses.pieces(call, { ...choice, id: "1", usage });
  const events = pieces.map(({ data }) => JSON.parse(data.split("\ndata: ")[1] ?? "") as Record<string, unknown>);
  return events.flatMap((event) =>
    event["type"] === "response.output_item.done" ? [event["item"] as Record<string, unknown>] : [],
  );
}

test("text that an agent adds in the user's name is not a prompt", () => {
  const call = ask([TOOLS, user("<environment_context>\n</environment_context>"), user("Please [[write]]")]);
  expect(outline(call.conversation)).toEqual(["user: Please [[write]]"]);
  expect(call.tools).toEqual(["exec_command", "exec", "spawn_agent"]);
});

test("tools are called as they were offered, and the answer counts as one", () => {
  const input: unknown[] = [TOOLS, user("Please [[write]]")];
  const items = answer(ask(input));
  expect(items).toMatchObject([
    { type: "message", content: [{ text: "Writing." }] },
    { type: "custom_tool_call", name: "exec", input: "text(1)" },
    { type: "function_call", name: "spawn_agent", namespace: "collaboration", arguments: '{"message":"go"}' },
  ]);
  const results = items.slice(1).map((item) => ({ type: "x_output", call_id: item["call_id"], output: "fine" }));
  const next = ask([...input, ...items, ...results]);
  expect(outline(next.conversation)).toEqual([
    "user: Please [[write]]",
    "assistant: Writing.",
    "assistant uses exec",
    "assistant uses spawn_agent",
    "result: fine",
    "result: fine",
  ]);
  expect(answer(next)).toMatchObject([{ content: [{ text: "Written." }] }]);
});

test("what a subagent is asked is its prompt, what it reports is not", () => {
  const message = (kind: string) => ({
    type: "agent_message",
    content: [
      { type: "input_text", text: `Message Type: ${kind}\nPayload:\n` },
      { type: "encrypted_content", encrypted_content: "[[write]]" },
    ],
  });
  const headers = { "session-id": "s", "thread-id": "t" };
  const call = ask([message("NEW_TASK"), message("FINAL_ANSWER")], headers);
  expect(outline(call.conversation)).toEqual(["user: Message Type: NEW_TASK\nPayload:\n[[write]]"]);
  expect([call.session, call.subagent]).toEqual(["s", "t"]);
  expect(ask([user("x")], { "session-id": "s", "thread-id": "s" }).subagent).toBeNull();
});

test("an invalid call is refused or left to other handlers", () => {
  const read = (method: string, path: string, body: unknown) =>
    openaiResponses.read({ method, path, headers: {}, body });
  expect(read("POST", "/v1/responses", { model: "m" })).toMatchObject({ status: 400 });
  expect(read("POST", "/v1/messages", {})).toBeNull();
  expect(read("GET", "/v1/models", undefined)).toBeNull();
});
