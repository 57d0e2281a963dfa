/** The OpenAI Responses API, as Codex speaks it: streamed answers, tools by function, by free text, in namespaces. */

import type { Conversation, Message, Part } from "./conversation.ts";
import { cut, type Json, list, object, parsed } from "./json.ts";
import type { Answer, HttpRequest, ModelCall, Piece, PlainAnswer, Protocol } from "./protocol.ts";
import type { Block } from "./scenario.ts";

export const openaiResponses: Protocol = { name: "openai-responses", read, whole, pieces, error };

/** How a tool that was offered must be called. */
interface Offered {
  name: string;
  custom: boolean;
  namespace: string | null;
}

interface ResponsesCall extends ModelCall {
  offered: Offered[];
}

function read(request: HttpRequest): ModelCall | PlainAnswer | null {
  const { method, path } = request;
  if (method === "POST" && path.endsWith("/v1/responses")) return readCall(request);
  if (method === "GET" && path.endsWith("/v1/models") && request.headers["originator"]) {
    return { status: 200, body: { object: "list", data: [], models: [] } };
  }
  return null;
}

function readCall(request: HttpRequest): ResponsesCall | PlainAnswer {
  const body = object(request.body);
  if (typeof body["model"] !== "string" || (!Array.isArray(body["input"]) && typeof body["input"] !== "string")) {
    return { status: 400, body: error(400, "input and model are required") };
  }
  const items = Array.isArray(body["input"]) ? body["input"] : [{ role: "user", content: body["input"] }];
  const offered = offeredTools([
    ...list(body["tools"]),
    ...items
      .filter((item) => object(item)["type"] === "additional_tools")
      .flatMap((item) => list(object(item)["tools"])),
  ]);
  const session = request.headers["session-id"] ?? null;
  const thread = request.headers["thread-id"] ?? null;
  return {
    conversation: readConversation(items),
    model: body["model"],
    stream: body["stream"] === true,
    tools: offered.map((tool) => tool.name),
    session,
    subagent: thread !== session ? thread : null,
    offered,
  };
}

function offeredTools(tools: unknown[], namespace: string | null = null): Offered[] {
  return tools.flatMap((raw) => {
    const tool = object(raw);
    const name = String(tool["name"] ?? tool["type"]);
    if (tool["type"] === "namespace") return offeredTools(list(tool["tools"]), name === "functions" ? null : name);
    return [{ name, custom: tool["type"] === "custom", namespace }];
  });
}

/** Items of one speaker that follow each other are one message. */
function readConversation(items: unknown[]): Conversation {
  const conversation: Message[] = [];
  for (const item of items.map(object)) {
    const message = readItem(item);
    if (message === null) continue;
    const last = conversation.at(-1);
    if (last?.role === "assistant" && message.role === "assistant") last.parts.push(...message.parts);
    else conversation.push(message);
  }
  return conversation;
}

function readItem(item: Json): Message | null {
  const type = String(item["type"] ?? "message");
  if (type === "message") return readMessage(item);
  if (type === "agent_message") return readTask(item);
  if (type === "reasoning") return { role: "assistant", parts: [{ type: "thinking", text: textOf(item["summary"]) }] };
  if (type.endsWith("_output")) return { role: "user", parts: [readResult(item)] };
  if (type === "function_call" || type === "custom_tool_call") return { role: "assistant", parts: [readUse(item)] };
  if (type === "additional_tools") return null;
  return { role: "system", parts: [{ type: "other", kind: type }] };
}

/** Codex says in the user's name where it is and what the project's rules are. */
const INJECTED = /^\s*(?:<[a-z_]+(?: [a-z]+)?>|# AGENTS\.md)/;

function readMessage(item: Json): Message {
  const text = textOf(item["content"]);
  const said = item["role"] === "assistant" ? "assistant" : item["role"] === "user" ? "user" : "system";
  return { role: said === "user" && INJECTED.test(text) ? "system" : said, parts: [{ type: "text", text }] };
}

/** What a subagent is asked is its prompt; what it reports in the end is a note to the one who asked. */
function readTask(item: Json): Message {
  const text = textOf(item["content"]);
  return { role: text.includes("NEW_TASK") ? "user" : "system", parts: [{ type: "text", text }] };
}

function readUse(item: Json): Part {
  const input = item["type"] === "custom_tool_call" ? item["input"] : parsed(String(item["arguments"]));
  return { type: "tool-use", id: String(item["call_id"]), name: String(item["name"]), input };
}

function readResult(item: Json): Part {
  return { type: "tool-result", id: String(item["call_id"]), text: textOf(item["output"]), failed: false };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map((piece) => object(piece)["text"] ?? object(piece)["encrypted_content"])
    .filter((text) => typeof text === "string")
    .join("");
}

function whole(call: ModelCall, answer: Answer): Json {
  const output = answer.reply.blocks.map((block, at) => writeItem(call, answer, block, at));
  return { ...envelope(call, answer), status: "completed", output, usage: usageOf(answer) };
}

function pieces(call: ModelCall, answer: Answer): Piece[] {
  return [
    event("response.created", { response: { ...envelope(call, answer), status: "in_progress", output: [] } }),
    ...answer.reply.blocks.flatMap((block, at) => blockPieces(call, answer, block, at)),
    { ...event("response.completed", { response: whole(call, answer) }), last: true },
  ];
}

/** A stalling answer keeps back the end of its last words, too: they are still being said. */
function blockPieces(call: ModelCall, answer: Answer, block: Block, at: number): Piece[] {
  const item = writeItem(call, answer, block, at);
  const isLast = at === answer.reply.blocks.length - 1;
  const done: Piece = { ...event("response.output_item.done", { output_index: at, item }), last: isLast };
  if (block.type !== "text") {
    return [event("response.output_item.added", { output_index: at, item: { ...item, status: "in_progress" } }), done];
  }
  const begun = { ...item, status: "in_progress", content: [] };
  const place = { item_id: item["id"], output_index: at, content_index: 0 };
  return [
    event("response.output_item.added", { output_index: at, item: begun }),
    ...cut(block.text, 12).map((delta) => event("response.output_text.delta", { ...place, delta })),
    done,
  ];
}

function writeItem(call: ModelCall, answer: Answer, block: Block, at: number): Json {
  const id = `${answer.id}_${at}`;
  if (block.type === "text") {
    const content = [{ type: "output_text", text: block.text, annotations: [] }];
    return { type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content };
  }
  if (block.type === "thinking") {
    return { type: "reasoning", id: `rs_${id}`, summary: [{ type: "summary_text", text: block.text }] };
  }
  const offered = (call as ResponsesCall).offered.find((tool) => tool.name === block.name);
  const common = { call_id: `call_${answer.scenario.replace(/\W/g, "")}_${answer.key}_${at}`, status: "completed" };
  if (offered?.custom) {
    return { type: "custom_tool_call", id: `ctc_${id}`, ...common, name: block.name, input: block.input["input"] };
  }
  const namespace = offered?.namespace ? { namespace: offered.namespace } : {};
  const use = { name: block.name, ...namespace, arguments: JSON.stringify(block.input) };
  return { type: "function_call", id: `fc_${id}`, ...common, ...use };
}

function envelope(call: ModelCall, answer: Answer): Json {
  return { id: `resp_${answer.id}`, object: "response", created_at: 0, model: call.model };
}

/** Input tokens are given with those of the cache. */
function usageOf({ usage }: Answer): Json {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + usage.output,
  };
}

function error(status: number, message: string): Json {
  return { error: { message, type: ERROR_TYPES[status] ?? "server_error", code: `status_${status}` } };
}

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  429: "rate_limit_error",
};

function event(type: string, fields: Json): Piece {
  return { data: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n` };
}
