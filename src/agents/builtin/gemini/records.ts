/**
 * Records of Gemini CLI's transcript, a log to replay: a header, messages (rewritten under the same id when they grow;
 * the last one counts), `$set` (fields of the session, or all messages again) and `$rewindTo` (removes a message and
 * everything after it).
 */

import { isRecord } from "../../../base/json.ts";
import { type Tokens, tokenCount } from "../../../model/tokens.ts";
import {
  asBuffer,
  completeLines,
  isOneDocument,
  type Line,
  parseLine,
  startsWith,
} from "../../../transcripts/lines.ts";

type Json = Record<string, unknown>;

export type GeminiRecord =
  | { kind: "header"; fields: Json; isDocument?: true }
  | { kind: "message"; message: Message }
  | { kind: "set"; messages: Message[] | null; fields: Json }
  | { kind: "rewind"; id: string }
  /** An unparsed line that repeats all messages. */
  | { kind: "repetition" };

/** The fields we read from a message. A field of unexpected shape is null or empty. */
export interface Message {
  id: string;
  /** `user`, `gemini`, or for messages that appear only on screen: `info`, `warning`, `error`. */
  type: string;
  time: string | null;
  parts: Part[];
  /** The text that the user typed, if Gemini CLI sent more, such as the content of a referenced file. */
  typed: string | null;
  thoughts: string[];
  tokens: Tokens | null;
  model: string | null;
  toolCalls: ToolCall[];
  /** The original JSON from the transcript. */
  native: Json;
}

type Part =
  | { type: "text"; text: string }
  | { type: "thought"; text: string }
  | { type: "call"; id: string; name: string; input: unknown }
  | { type: "response"; id: string; text: string };

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
  status: string;
  /** Null while the call runs; documents may lack it for a call that is over. */
  result: string | null;
  /** The absolute path of the written file, as the call reports it. */
  displayedPath: string | null;
}

const LAST_UPDATED = Buffer.from('{"$set":{"lastUpdated":');
const ALL_MESSAGES = Buffer.from('{"$set":{"messages":');

interface Reading {
  /** The offset of the first line to read. */
  from?: number;
  /** Yields a `repetition` for a line that repeats all messages, without parsing the line. */
  withoutRepetitions?: boolean;
}

/** Yields every record of a transcript, log or document, with its byte range. */
export function* readRecords(bytes: Buffer, reading: Reading = {}): Generator<[GeminiRecord, Line]> {
  const { from = 0, withoutRepetitions = false } = reading;
  const document = from === 0 ? documentRecords(bytes) : null;
  if (document) {
    const whole = { start: 0, end: bytes.length };
    for (const record of document) yield [record, whole];
    return;
  }
  for (const line of completeLines(bytes, from)) {
    // Half of a transcript's lines contain only the time.
    if (line.end - line.start < 2 || startsWith(bytes, line, LAST_UPDATED)) continue;
    if (withoutRepetitions && startsWith(bytes, line, ALL_MESSAGES)) {
      yield [{ kind: "repetition" }, line];
      continue;
    }
    const record = toRecord(parseLine(bytes, line));
    if (record) yield [record, line];
  }
}

/** The first key of a log line; a document starts with any other key. */
const LOG_LINE = /^\s*\{\s*"(?:id|\$set|\$rewindTo)"/;

/**
 * The records of a transcript that is one JSON document (`{"messages": […]}`), which older versions of Gemini CLI and
 * other tools write; null for a log.
 */
function documentRecords(bytes: Buffer): GeminiRecord[] | null {
  if (LOG_LINE.test(bytes.toString("latin1", 0, 64))) return null;
  const firstLine = bytes.indexOf(10);
  const end = firstLine < 0 || isOneDocument(bytes) ? bytes.length : firstLine;
  const value = parseLine(bytes, { start: 0, end });
  if (!isRecord(value) || !Array.isArray(value["messages"])) return null;
  const { messages, ...fields } = value;
  const records: GeminiRecord[] = [{ kind: "header", fields, isDocument: true }];
  for (const [index, each] of messages.entries()) {
    const message = isRecord(each) ? toMessage({ id: `#${index}`, ...each }) : null;
    if (message) records.push({ kind: "message", message });
  }
  return records;
}

export function isDocument(bytes: Uint8Array): boolean {
  return documentRecords(asBuffer(bytes)) !== null;
}

/** Checks the record types in the same order as Gemini CLI. */
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
 * A resume writes the results of all calls of a message to each call. If a call has its own result, drops the
 * results of the other calls.
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

/** Gemini includes cache reads in the input, and counts thoughts separately from the output. */
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
