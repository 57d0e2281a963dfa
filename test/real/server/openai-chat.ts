/** The OpenAI Chat Completions API, as most agents speak it to other vendors' models: streamed and whole answers. */

import type { Conversation, Message, Part } from "./conversation.ts";
import { cut, type Json, list, object, parsed } from "./json.ts";
import type { Answer, HttpRequest, ModelCall, Piece, PlainAnswer, Protocol, Usage } from "./protocol.ts";

/** What agents are told that the model is called. */
export const MODEL = "model-1";

export const openaiChat: Protocol = { name: "openai-chat", read, whole, pieces, error };

function read(request: HttpRequest): ModelCall | PlainAnswer | null {
  const { method, path } = request;
  if (method === "POST" && path.endsWith("/chat/completions")) return readCall(request);
  return null;
}

function readCall({ headers, body: given }: HttpRequest): ModelCall | PlainAnswer {
  const body = object(given);
  if (!Array.isArray(body["messages"]) || typeof body["model"] !== "string") {
    return { status: 400, body: error(400, "messages and model are required") };
  }
  const session = headers["x-session-id"] ?? headers["x-session-affinity"] ?? null;
  const parent = headers["x-parent-session-id"] ?? null;
  return {
    conversation: readConversation(body["messages"]),
    model: body["model"],
    stream: body["stream"] === true,
    tools: list(body["tools"]).map((tool) => String(object(object(tool)["function"])["name"])),
    session: parent ?? session,
    subagent: parent === null ? null : session,
  };
}

/** Results of tools are messages of their own here, one each; those that follow each other are one message. */
function readConversation(messages: unknown[]): Conversation {
  const conversation: Message[] = [];
  let afterResult = false;
  for (const message of messages.map(object)) {
    const last = conversation.at(-1);
    const isResult = message["role"] === "tool";
    if (isResult && afterResult && last) last.parts.push(readResult(message));
    else conversation.push(isResult ? { role: "user", parts: [readResult(message)] } : readMessage(message));
    afterResult = isResult;
  }
  return conversation;
}

function readMessage(message: Json): Message {
  const role = message["role"] === "assistant" || message["role"] === "user" ? message["role"] : "system";
  const thoughts = message["reasoning_content"] ?? message["reasoning"];
  return {
    role,
    parts: [
      ...(typeof thoughts === "string" ? [{ type: "thinking" as const, text: thoughts }] : []),
      ...readContent(message["content"]),
      ...list(message["tool_calls"]).map(readUse),
    ],
  };
}

function readContent(content: unknown): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return list(content).map((raw) => {
    const piece = object(raw);
    if (piece["type"] === "text") return { type: "text", text: String(piece["text"]) };
    return { type: "other", kind: String(piece["type"]) };
  });
}

function readUse(raw: unknown): Part {
  const use = object(raw);
  const called = object(use["function"]);
  const input = parsed(String(called["arguments"]));
  return { type: "tool-use", id: String(use["id"]), name: String(called["name"]), input };
}

/** The protocol has no word for a tool that failed. */
function readResult(message: Json): Part {
  const text = readContent(message["content"]).flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { type: "tool-result", id: String(message["tool_call_id"]), text: text.join("\n"), failed: false };
}

function whole(call: ModelCall, answer: Answer): Json {
  const { text, thoughts, uses } = contentOf(answer);
  const message = {
    role: "assistant",
    content: text === "" && uses.length > 0 ? null : text,
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(uses.length === 0 ? {} : { tool_calls: uses }),
  };
  return {
    ...envelope(call, answer, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: finishReason(answer) }],
    usage: usageOf(answer),
  };
}

function pieces(call: ModelCall, answer: Answer): Piece[] {
  const frame = envelope(call, answer, "chat.completion.chunk");
  const chunk = (delta: Json, finish: string | null = null) =>
    event({ ...frame, choices: [{ index: 0, delta, finish_reason: finish }] });
  const { text, thoughts, uses } = contentOf(answer);
  return [
    chunk({ role: "assistant", content: "" }),
    ...cut(thoughts, 12).map((reasoning_content) => chunk({ reasoning_content })),
    ...cut(text, 12).map((content) => chunk({ content })),
    ...uses.flatMap((use, index) => usePieces(use, index).map((tool_call) => chunk({ tool_calls: [tool_call] }))),
    { ...chunk({}, finishReason(answer)), last: true },
    // Asked for by `stream_options`; all agents of ours ask.
    { ...event({ ...frame, choices: [], usage: usageOf(answer) }), last: true },
    { data: "data: [DONE]\n\n", last: true },
  ];
}

interface Use {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** First the tool's name, then what it is given, bit by bit. */
function usePieces(use: Use, index: number): Json[] {
  const begin = { index, id: use.id, type: use.type, function: { name: use.function.name, arguments: "" } };
  const rest = cut(use.function.arguments, 40).map((text) => ({ index, function: { arguments: text } }));
  return [begin, ...rest];
}

function contentOf(answer: Answer): { text: string; thoughts: string; uses: Use[] } {
  const content = { text: "", thoughts: "", uses: [] as Use[] };
  for (const [at, block] of answer.reply.blocks.entries()) {
    if (block.type === "text") content.text += block.text;
    else if (block.type === "thinking") content.thoughts += block.text;
    else {
      const id = `call_${answer.scenario.replace(/\W/g, "")}_${answer.key}_${at}`;
      const called = { name: block.name, arguments: JSON.stringify(block.input) };
      content.uses.push({ id, type: "function", function: called });
    }
  }
  return content;
}

function envelope(call: ModelCall, answer: Answer, kind: string): Json {
  return { id: `chatcmpl-${answer.id}`, object: kind, created: 1_700_000_000, model: call.model };
}

/** What an agent can know of it: what is written to the cache has no figure of its own. */
export function reported({ input, output, cacheRead, cacheWrite }: Usage): Usage {
  return { input: input + cacheWrite, output, cacheRead, cacheWrite: 0 };
}

/** Input tokens are given with those of the cache. */
function usageOf({ usage }: Answer): Json {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: input,
    completion_tokens: usage.output,
    total_tokens: input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
  };
}

function finishReason(answer: Answer): string {
  return answer.reply.blocks.some((block) => block.type === "tool-use") ? "tool_calls" : "stop";
}

function error(status: number, message: string): Json {
  return { error: { message, type: ERROR_TYPES[status] ?? "server_error", param: null, code: null } };
}

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  429: "rate_limit_error",
};

function event(fields: Json): Piece {
  return { data: `data: ${JSON.stringify(fields)}\n\n` };
}
