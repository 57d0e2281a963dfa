/** The Gemini API: streamed and whole answers, the small questions that Gemini CLI asks by itself, errors. */

import type { Conversation, Message, Part } from "./conversation.ts";
import { cut, type Json, list, object } from "./json.ts";
import type { Answer, HttpRequest, ModelCall, Piece, PlainAnswer, Protocol } from "./protocol.ts";
import type { Block } from "./scenario.ts";

export const gemini: Protocol = { name: "gemini", read, whole, pieces, error };

const METHOD = /^\/v1beta\/models\/([^/:]+):(streamGenerateContent|generateContent|countTokens)$/;

function read(request: HttpRequest): ModelCall | PlainAnswer | null {
  const match = METHOD.exec(request.path);
  if (request.method !== "POST" || !match) return null;
  const [, model = "", method = ""] = match;
  const body = object(request.body);
  if (method === "countTokens") {
    return { status: 200, body: { totalTokens: Math.ceil(JSON.stringify(body).length / 4) } };
  }
  if (!Array.isArray(body["contents"])) return { status: 400, body: error(400, "contents are required") };
  const config = object(body["generationConfig"]);
  if (config["responseMimeType"] === "application/json") return { status: 200, body: decision(config, model) };
  return {
    conversation: readConversation(body["contents"]),
    model,
    stream: method === "streamGenerateContent",
    tools: list(body["tools"]).flatMap((tool) =>
      list(object(tool)["functionDeclarations"]).map((declared) => String(object(declared)["name"])),
    ),
    session: null,
    subagent: null,
  };
}

/** Before a turn Gemini CLI asks which model is good enough, and behind one whether it is done. */
function decision(config: Json, model: string): Json {
  const schema = JSON.stringify(config["responseJsonSchema"] ?? config["responseSchema"] ?? {});
  const answers: [key: string, answer: Json][] = [
    ["next_speaker", { reasoning: "done", next_speaker: "user" }],
    ["model_choice", { reasoning: "simple", model_choice: "flash" }],
    ["complexity_score", { complexity_reasoning: "simple", complexity_score: 10 }],
    ["unproductive_state", { unproductive_state_analysis: "fine", unproductive_state_confidence: 0 }],
  ];
  const answer = answers.find(([key]) => schema.includes(key))?.[1] ?? {};
  return { candidates: [candidate([{ text: JSON.stringify(answer) }], true)], modelVersion: model };
}

function readConversation(contents: unknown[]): Conversation {
  return contents.map((raw): Message => {
    const content = object(raw);
    const role = content["role"] === "model" ? "assistant" : "user";
    return { role, parts: list(content["parts"]).map(readPart) };
  });
}

function readPart(raw: unknown): Part {
  const part = object(raw);
  const call = object(part["functionCall"]);
  const response = object(part["functionResponse"]);
  if (typeof part["text"] === "string") {
    return { type: part["thought"] === true ? "thinking" : "text", text: withoutContext(part["text"]) };
  }
  if (part["functionCall"]) {
    return { type: "tool-use", id: String(call["id"]), name: String(call["name"]), input: call["args"] };
  }
  if (part["functionResponse"]) {
    const { output, error: problem } = object(response["response"]);
    return {
      type: "tool-result",
      id: String(response["id"]),
      text: String(output ?? problem ?? ""),
      failed: output === undefined,
    };
  }
  return { type: "other", kind: Object.keys(part).join(" ") };
}

/** Where and when it runs: Gemini CLI says it at the head of every conversation. */
function withoutContext(text: string): string {
  return text.replace(/<session_context>[\s\S]*?<\/session_context>/g, "").trim();
}

function whole(call: ModelCall, answer: Answer): Json {
  return envelope(call, answer, answer.reply.blocks.map(writeBlock), true);
}

function pieces(call: ModelCall, answer: Answer): Piece[] {
  const spoken = answer.reply.blocks.flatMap((block) =>
    block.type === "text" ? cut(block.text, 12).map((text) => ({ text })) : [writeBlock(block)],
  );
  return [
    ...spoken.map((part) => event(envelope(call, answer, [part], false))),
    { ...event(envelope(call, answer, [{ text: "" }], true)), last: true },
  ];
}

function writeBlock(block: Block): Json {
  if (block.type === "text") return { text: block.text };
  if (block.type === "thinking") return { text: block.text, thought: true };
  return { functionCall: { name: block.name, args: block.input } };
}

function envelope(call: ModelCall, answer: Answer, parts: Json[], isLast: boolean): Json {
  return {
    candidates: [candidate(parts, isLast)],
    ...(isLast ? { usageMetadata: usageOf(answer) } : {}),
    modelVersion: call.model,
    responseId: `response-${answer.id}`,
  };
}

function candidate(parts: Json[], isLast: boolean): Json {
  return { content: { role: "model", parts }, index: 0, ...(isLast ? { finishReason: "STOP" } : {}) };
}

/** Here the cache counts into the prompt, nothing is paid for filling it, and thoughts count beside the answer. */
function usageOf({ usage }: Answer): Json {
  const thoughts = Math.min(3, usage.output);
  const prompt = usage.input + usage.cacheRead;
  return {
    promptTokenCount: prompt,
    cachedContentTokenCount: usage.cacheRead,
    candidatesTokenCount: usage.output - thoughts,
    thoughtsTokenCount: thoughts,
    totalTokenCount: prompt + usage.output,
  };
}

function error(status: number, message: string): Json {
  const names: Record<number, string> = { 400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED" };
  return { error: { code: status, message, status: names[status] ?? "INTERNAL" } };
}

function event(data: Json): Piece {
  return { data: `data: ${JSON.stringify(data)}\r\n\r\n` };
}
