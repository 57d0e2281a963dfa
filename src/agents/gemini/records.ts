/**
 * Records of Gemini CLI's transcript, a log that is replayed: a header, messages (written again under the same
 * id when something is added to them; the last one counts), `$set` (fields of the session, or all of its
 * messages anew) and `$rewindTo` (a message and all behind it are gone).
 */
import { type Line, parseLine, startsWith } from "../../transcripts/lines.ts";
import { type Tokens, tokenCount } from "../../transcripts/model.ts";
import { isRecord } from "../profile.ts";

type Json = Record<string, unknown>;

export type GeminiRecord =
  | { kind: "header"; fields: Json }
  | { kind: "message"; message: Message }
  | { kind: "set"; messages: Message[] | null; fields: Json }
  | { kind: "rewind"; id: string };

/** What is read of a message; everything that is not of the expected shape is null or empty. */
export interface Message {
  id: string;
  /** `user`, `gemini`, or what only the screen shows: `info`, `warning`, `error`. */
  type: string;
  time: string | null;
  parts: Part[];
  /** What was typed, where what was sent is longer: a file that was named is sent along. */
  typed: string | null;
  thoughts: string[];
  tokens: Tokens | null;
  model: string | null;
  toolCalls: ToolCall[];
  /** As it stands in the transcript. */
  native: Json;
}

export type Part =
  | { type: "text"; text: string }
  | { type: "thought"; text: string }
  | { type: "call"; id: string; name: string; input: unknown }
  | { type: "response"; id: string; text: string };

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
  status: string;
  /** Null while it runs. */
  result: string | null;
  /** The file that it wrote, by the absolute path that it reports. */
  displayedPath: string | null;
}

const LAST_UPDATED = Buffer.from('{"$set":{"lastUpdated":');

/** Half of a transcript's lines say no more than the time. */
export function isBookkeeping(bytes: Buffer, line: Line): boolean {
  return line.end - line.start < 2 || startsWith(bytes, line, LAST_UPDATED);
}

const ALL_MESSAGES = Buffer.from('{"$set":{"messages":');

/** A line that holds the whole conversation anew, told without parsing it. */
export function holdsAllMessages(bytes: Buffer, line: Line): boolean {
  return startsWith(bytes, line, ALL_MESSAGES);
}

export function readRecord(bytes: Buffer, line: Line): GeminiRecord | null {
  return toRecord(parseLine(bytes, line));
}

/** In the order in which Gemini CLI itself asks. */
function toRecord(value: unknown): GeminiRecord | null {
  if (!isRecord(value)) return null;
  if (typeof value["$rewindTo"] === "string") return { kind: "rewind", id: value["$rewindTo"] };
  const message = toMessage(value);
  if (message) return { kind: "message", message };
  const set = value["$set"];
  if (isRecord(set)) return { kind: "set", messages: messagesOf(set["messages"]), fields: set };
  if (typeof value["sessionId"] === "string" && typeof value["projectHash"] === "string") {
    return { kind: "header", fields: value };
  }
  return null;
}

export function textOf(message: Message): string {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function messagesOf(value: unknown): Message[] | null {
  if (!Array.isArray(value)) return null;
  return value.flatMap((each) => (isRecord(each) ? (toMessage(each) ?? []) : []));
}

function toMessage(value: Json): Message | null {
  const id = value["id"];
  if (typeof id !== "string") return null;
  return {
    id,
    type: text(value["type"]) ?? "",
    time: text(value["timestamp"]),
    parts: partsOf(value["content"]),
    typed: value["displayContent"] === undefined ? null : wordsOf(value["displayContent"]),
    thoughts: list(value["thoughts"]).flatMap(thoughtOf),
    tokens: value["type"] === "gemini" ? tokensOf(value["tokens"]) : null,
    model: text(value["model"]),
    toolCalls: list(value["toolCalls"]).flatMap((call) => toolCallOf(call) ?? []),
    native: value,
  };
}

function partsOf(content: unknown): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return (Array.isArray(content) ? content : [content]).flatMap((part) => partOf(part) ?? []);
}

function partOf(part: unknown): Part | null {
  if (typeof part === "string") return { type: "text", text: part };
  if (!isRecord(part)) return null;
  const words = text(part["text"]);
  if (words !== null) return { type: part["thought"] === true ? "thought" : "text", text: words };
  const call = part["functionCall"];
  if (isRecord(call)) {
    return { type: "call", id: text(call["id"]) ?? "", name: text(call["name"]) ?? "", input: call["args"] };
  }
  const response = part["functionResponse"];
  if (isRecord(response)) {
    return { type: "response", id: text(response["id"]) ?? "", text: outputOf(response["response"]) };
  }
  return null;
}

function toolCallOf(call: unknown): ToolCall | null {
  if (!isRecord(call)) return null;
  const id = text(call["id"]) ?? "";
  const result = ownResult(id, call["result"]);
  const display = call["resultDisplay"];
  return {
    id,
    name: text(call["name"]) ?? "",
    input: call["args"],
    status: text(call["status"]) ?? "",
    result: result === undefined || result === null ? null : wordsOf(result),
    displayedPath: isRecord(display) ? text(display["filePath"]) : null,
  };
}

/**
 * A resume writes the results of all calls of a message to each of them. Those that belong to another are left out
 * where it has one of its own.
 */
export function ownResult(id: string, result: unknown): unknown {
  if (!Array.isArray(result)) return result;
  const own = result.filter((part) => {
    const read = partOf(part);
    return read?.type === "response" && read.id === id;
  });
  return own.length === 0 ? result : own.slice(0, 1);
}

/** Texts and outputs of a list of parts, as one text. */
function wordsOf(content: unknown): string {
  return partsOf(content)
    .map((part) => (part.type === "call" ? "" : part.text))
    .join("\n");
}

function outputOf(response: unknown): string {
  if (!isRecord(response)) return "";
  return text(response["output"]) ?? text(response["error"]) ?? "";
}

function thoughtOf(thought: unknown): string[] {
  if (!isRecord(thought)) return [];
  const words = [text(thought["subject"]), text(thought["description"])].filter((each) => each);
  return words.length === 0 ? [] : [words.join(": ")];
}

/** Gemini counts what came from its cache into the input, and thoughts beside the output. */
function tokensOf(tokens: unknown): Tokens | null {
  if (!isRecord(tokens)) return null;
  const cached = tokenCount(tokens["cached"]);
  return {
    input: Math.max(0, tokenCount(tokens["input"]) - cached) + tokenCount(tokens["tool"]),
    output: tokenCount(tokens["output"]) + tokenCount(tokens["thoughts"]),
    cacheRead: cached,
    cacheWrite: 0,
  };
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
