/**
 * Lines of Copilot's transcript: events of many types, the subagents' among them, told apart by `agentId`. Most are
 * bookkeeping, and the largest, the system's messages, are skipped by a look at their first bytes.
 */
import { type Line, parseLine } from "../../transcripts/lines.ts";
import { type Tokens, tokenCount } from "../../transcripts/model.ts";
import { isRecord } from "../profile.ts";

export interface CopilotLine {
  id: string | null;
  time: string | null;
  /** The subagent whose line it is. */
  agent: string | null;
  content: Content;
}

/** What is read of a line; everything that is not of the expected shape is null or empty. */
export type Content =
  | { type: "start"; model: string | null }
  | { type: "prompt"; text: string }
  /** Words under the user's role that are not the user's. */
  | { type: "note"; text: string }
  | { type: "answer"; text: string; thinking: string; model: string | null; calls: Call[] }
  | { type: "result"; callId: string; text: string; success: boolean; files: string[] }
  | { type: "usage"; tokens: Tokens }
  | { type: "turn-end" }
  | { type: "broken-off"; text: string }
  | { type: "compaction"; text: string }
  | { type: "title"; text: string };

export interface Call {
  id: string;
  name: string;
  input: unknown;
}

type Json = Record<string, unknown>;

const READ = [
  "session.start",
  "session.resume",
  "session.model_change",
  "session.title_changed",
  "session.usage_record",
  "session.error",
  "session.compaction_complete",
  "user.message",
  "assistant.message",
  "assistant.turn_end",
  "tool.execution_complete",
  "abort",
];
const TYPE_PREFIX = '{"type":"';

export function readLine(bytes: Buffer, line: Line): CopilotLine | null {
  if (line.end - line.start < 2 || !mayTell(bytes, line)) return null;
  const value = parseLine(bytes, line);
  if (!isRecord(value) || !isRecord(value["data"])) return null;
  const content = contentOf(value["type"], value["data"]);
  if (content === null) return null;
  return { id: text(value["id"]), time: text(value["timestamp"]), agent: text(value["agentId"]), content };
}

/** Copilot writes the type first; a line that begins otherwise is read to be sure. */
function mayTell(bytes: Buffer, line: Line): boolean {
  const head = bytes.toString("latin1", line.start, Math.min(line.end, line.start + 60));
  if (!head.startsWith(TYPE_PREFIX)) return true;
  const end = head.indexOf('"', TYPE_PREFIX.length);
  return end < 0 || READ.includes(head.slice(TYPE_PREFIX.length, end));
}

function contentOf(type: unknown, data: Json): Content | null {
  switch (type) {
    case "session.start":
    case "session.resume":
      return { type: "start", model: text(data["selectedModel"]) };
    case "session.model_change":
      return { type: "start", model: text(data["newModel"]) };
    case "session.title_changed":
      return { type: "title", text: text(data["title"]) ?? "" };
    case "user.message":
      return userOf(data);
    case "assistant.message":
      return answerOf(data);
    case "assistant.turn_end":
      return { type: "turn-end" };
    case "tool.execution_complete":
      return resultOf(data);
    case "session.usage_record":
      return isRecord(data["usage"]) ? { type: "usage", tokens: tokensOf(data["usage"]) } : null;
    case "abort":
      return { type: "broken-off", text: "Interrupted by the user" };
    case "session.error":
      return { type: "broken-off", text: text(data["message"]) ?? "An error" };
    case "session.compaction_complete":
      return data["success"] === true ? { type: "compaction", text: text(data["summaryContent"]) ?? "" } : null;
    default:
      return null;
  }
}

function userOf(data: Json): Content {
  const words = text(data["content"]) ?? "";
  const source = data["source"];
  const isUsers = source === undefined || source === null || source === "user";
  return { type: isUsers && words.trim() !== "" ? "prompt" : "note", text: words };
}

function answerOf(data: Json): Content {
  const requests = Array.isArray(data["toolRequests"]) ? data["toolRequests"] : [];
  return {
    type: "answer",
    text: text(data["content"]) ?? "",
    thinking: text(data["reasoningText"]) ?? "",
    model: text(data["model"]),
    calls: requests.flatMap((request) => callOf(request) ?? []),
  };
}

function callOf(request: unknown): Call | null {
  const id = isRecord(request) ? text(request["toolCallId"]) : null;
  if (!isRecord(request) || id === null) return null;
  return { id, name: text(request["name"]) ?? "", input: request["arguments"] };
}

function resultOf(data: Json): Content | null {
  const callId = text(data["toolCallId"]);
  if (callId === null) return null;
  const said = isRecord(data["result"]) ? data["result"] : isRecord(data["error"]) ? data["error"] : {};
  return {
    type: "result",
    callId,
    text: text(said["content"]) ?? text(said["message"]) ?? "",
    success: data["success"] === true,
    files: editedFiles(data["fileEdits"]),
  };
}

function editedFiles(edits: unknown): string[] {
  if (!Array.isArray(edits)) return [];
  const paths = edits.map((edit) => (isRecord(edit) ? text(edit["path"]) : null));
  return paths.filter((path): path is string => path !== null && path !== "" && !path.includes("\0"));
}

/** The input is given with what was read from the cache and written to it. */
function tokensOf(usage: Json): Tokens {
  const cacheRead = tokenCount(usage["cacheReadTokens"]);
  const cacheWrite = tokenCount(usage["cacheWriteTokens"]);
  const input = Math.max(0, tokenCount(usage["inputTokens"]) - cacheRead - cacheWrite);
  return { input, output: tokenCount(usage["outputTokens"]), cacheRead, cacheWrite };
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
