/** The Anthropic Messages API: streamed and whole answers, token counts, models, errors. */

import type { Conversation, Part } from "./conversation.ts";
import { cut, type Json, list, object } from "./json.ts";
import type { Answer, HttpRequest, ModelCall, Piece, PlainAnswer, Protocol } from "./protocol.ts";
import type { Block } from "./scenario.ts";

export const anthropic: Protocol = { name: "anthropic", read, whole, pieces, error };

function read(request: HttpRequest): ModelCall | PlainAnswer | null {
  const { method, path } = request;
  if (method === "POST" && path.endsWith("/v1/messages/count_tokens")) {
    return { status: 200, body: { input_tokens: Math.ceil(JSON.stringify(request.body ?? "").length / 4) } };
  }
  if (method === "POST" && path.endsWith("/v1/messages")) return readCall(request);
  if (method === "GET" && path.endsWith("/v1/models")) {
    return { status: 200, body: { data: [], has_more: false, first_id: null, last_id: null } };
  }
  if (method === "HEAD" || path === "/") return { status: 200, body: {} };
  return null;
}

function readCall(request: HttpRequest): ModelCall | PlainAnswer {
  const body = object(request.body);
  if (!Array.isArray(body["messages"]) || typeof body["model"] !== "string") {
    return { status: 400, body: error(400, "messages and model are required") };
  }
  return {
    conversation: readConversation(body["messages"]),
    model: body["model"],
    stream: body["stream"] === true,
    instructions: JSON.stringify(body["system"] ?? ""),
    tools: list(body["tools"]).map((tool) => String(object(tool)["name"])),
    session: request.headers["x-claude-code-session-id"] ?? null,
    subagent: request.headers["x-claude-code-agent-id"] ?? null,
  };
}

function readConversation(messages: unknown[]): Conversation {
  return messages.map((raw) => {
    const message = object(raw);
    const content = message["content"];
    const role = message["role"] === "assistant" ? "assistant" : message["role"] === "system" ? "system" : "user";
    return {
      role,
      parts: typeof content === "string" ? [{ type: "text", text: content }] : list(content).map(readPart),
    };
  });
}

function readPart(raw: unknown): Part {
  const block = object(raw);
  switch (block["type"]) {
    case "text":
      return { type: "text", text: String(block["text"]) };
    case "thinking":
      return { type: "thinking", text: String(block["thinking"]) };
    case "tool_use":
      return { type: "tool-use", id: String(block["id"]), name: String(block["name"]), input: block["input"] };
    case "tool_result":
      return {
        type: "tool-result",
        id: String(block["tool_use_id"]),
        text: textOf(block["content"]),
        failed: block["is_error"] === true,
      };
    default:
      return { type: "other", kind: String(block["type"]) };
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map((block) => object(block)["text"])
    .filter((text) => typeof text === "string")
    .join("\n");
}

function whole(call: ModelCall, answer: Answer): Json {
  return { ...envelope(call, answer), content: answer.reply.blocks.map((block, at) => writeBlock(block, answer, at)) };
}

function pieces(call: ModelCall, answer: Answer): Piece[] {
  const start = { ...envelope(call, answer), content: [], stop_reason: null };
  return [
    event("message_start", { message: { ...start, usage: { ...usageOf(answer), output_tokens: 1 } } }),
    event("ping", {}),
    ...answer.reply.blocks.flatMap((block, at) => blockPieces(block, answer, at)),
    {
      ...event("message_delta", {
        delta: { stop_reason: stopReason(answer), stop_sequence: null },
        usage: { output_tokens: answer.usage.output },
      }),
      last: true,
    },
    { ...event("message_stop", {}), last: true },
  ];
}

function blockPieces(block: Block, answer: Answer, index: number): Piece[] {
  const deltas = (parts: Json[]) => parts.map((delta) => event("content_block_delta", { index, delta }));
  const between = (empty: Json, parts: Json[]) => [
    event("content_block_start", { index, content_block: empty }),
    ...deltas(parts),
    event("content_block_stop", { index }),
  ];
  if (block.type === "text") {
    const texts = cut(block.text, 12).map((text) => ({ type: "text_delta", text }));
    return between({ type: "text", text: "" }, texts);
  }
  if (block.type === "thinking") {
    return between({ type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: block.text },
      { type: "signature_delta", signature: SIGNATURE },
    ]);
  }
  const input = cut(JSON.stringify(block.input), 40).map((partial_json) => ({
    type: "input_json_delta",
    partial_json,
  }));
  return between({ ...writeBlock(block, answer, index), input: {} }, input);
}

const SIGNATURE = "c2lnbmF0dXJl";

function writeBlock(block: Block, answer: Answer, at: number): Json {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "thinking") return { type: "thinking", thinking: block.text, signature: SIGNATURE };
  const id = `toolu_${answer.scenario.replace(/\W/g, "")}_${answer.key}_${at}`;
  return { type: "tool_use", id, name: block.name, input: block.input };
}

function envelope(call: ModelCall, answer: Answer): Json {
  return {
    id: `msg_${answer.id}`,
    type: "message",
    role: "assistant",
    model: call.model,
    stop_reason: stopReason(answer),
    stop_sequence: null,
    usage: usageOf(answer),
  };
}

function usageOf({ usage }: Answer): Json {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
    service_tier: "standard",
  };
}

function stopReason(answer: Answer): string {
  return answer.reply.blocks.some((block) => block.type === "tool-use") ? "tool_use" : "end_turn";
}

function error(status: number, message: string): Json {
  return { type: "error", error: { type: ERROR_TYPES[status] ?? "api_error", message } };
}

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

function event(type: string, fields: Json): Piece {
  return { data: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n` };
}
