/**
 * Reads Copilot's transcript: events of many types, including those of subagents, which have an `agentId`. Most are
 * bookkeeping: the reader recognizes them by the first bytes and skips them.
 */

import { isRecord } from "../../../base/json.ts";
import { type Tokens, tokenCount } from "../../../model/tokens.ts";
import { type Line, parseLine, readLines } from "../../../transcripts/lines.ts";
import { CutPoints } from "../../shared/transcript/cut-points.ts";
import { INTERRUPTED_BY_USER, type TranscriptEntry, type TranscriptItem } from "../../shared/transcript/items.ts";

interface CopilotLine {
  id: string | null;
  time: string | null;
  /** The subagent that wrote the line. */
  agent: string | null;
  content: Content;
}

/** The fields we read from a line. A missing or mistyped field is null or empty. */
type Content =
  | { type: "start"; model: string | null }
  | { type: "prompt"; text: string }
  /** Text under the user's role that the user did not write. */
  | { type: "note"; text: string }
  | { type: "answer"; text: string; thinking: string; model: string | null; calls: Call[] }
  | { type: "result"; callId: string; text: string; success: boolean; files: string[] }
  | { type: "usage"; tokens: Tokens }
  | { type: "turn-end" }
  | { type: "broken-off"; text: string }
  | { type: "compaction"; text: string }
  | { type: "title"; text: string };

interface Call {
  id: string;
  name: string;
  input: unknown;
}

/** The conversation can be cut only after lines of these types. */
const CAN_END: readonly Content["type"][] = [
  "prompt",
  "note",
  "answer",
  "result",
  "turn-end",
  "broken-off",
  "compaction",
];

/** Every parsed line yields an entry, so that a fork finds the entry to cut at. */
export function* readEntries(bytes: Buffer, from = 0): Generator<TranscriptEntry> {
  const cuts = new CutPoints();
  for (const [{ id, time, agent, content }, { start, end }] of readLines(bytes, readLine, from)) {
    const items = itemsOf(content);
    const entry = { id, time, start, end, items };
    if (agent !== null) {
      yield { ...entry, cuttable: false, scope: "subagent" };
      continue;
    }
    if (content.type === "compaction") cuts.clear();
    const canCut = cuts.add(items);
    yield { ...entry, cuttable: canCut && CAN_END.includes(content.type) };
  }
}

function itemsOf(content: Content): TranscriptItem[] {
  switch (content.type) {
    case "start":
      return modelItems(content.model);
    case "title":
      return content.text === "" ? [] : [{ kind: "title", text: content.text }];
    case "prompt":
    case "compaction":
      return [{ kind: content.type, text: content.text }];
    case "note":
      return content.text === "" ? [] : [{ kind: "note", text: content.text }];
    case "broken-off":
      return [{ kind: "interrupted", text: content.text || null }];
    case "usage":
      return [{ kind: "usage", tokens: content.tokens, key: null }];
    case "answer":
      return answerItems(content);
    case "result": {
      const { callId, text, success, files } = content;
      return [{ kind: "tool-result", toolUseId: callId, text, failed: !success, files }];
    }
    case "turn-end":
      return [];
  }
}

function answerItems({ text, thinking, model, calls }: Content & { type: "answer" }): TranscriptItem[] {
  const items = modelItems(model);
  if (thinking !== "") items.push({ kind: "thinking", text: thinking });
  if (text !== "") items.push({ kind: "answer", text });
  for (const { id, name, input } of calls) items.push({ kind: "tool-use", toolUseId: id, toolName: name, input });
  return items;
}

function modelItems(model: string | null): TranscriptItem[] {
  return model === null ? [] : [{ kind: "model", model }];
}

type Json = Record<string, unknown>;

const TYPE_PREFIX = '{"type":"';

function readLine(bytes: Buffer, line: Line): CopilotLine | null {
  if (line.end - line.start < 2 || !mayBeNeeded(bytes, line)) return null;
  const value = parseLine(bytes, line);
  if (!isRecord(value) || !isRecord(value["data"])) return null;
  const content = READERS.get(value["type"])?.(value["data"]) ?? null;
  if (content === null) return null;
  return { id: text(value["id"]), time: text(value["timestamp"]), agent: text(value["agentId"]), content };
}

/** Copilot writes the type first; a line that starts differently is parsed to be safe. */
function mayBeNeeded(bytes: Buffer, line: Line): boolean {
  const head = bytes.toString("latin1", line.start, Math.min(line.end, line.start + 60));
  if (!head.startsWith(TYPE_PREFIX)) return true;
  const end = head.indexOf('"', TYPE_PREFIX.length);
  return end < 0 || READERS.has(head.slice(TYPE_PREFIX.length, end));
}

const READERS = new Map<unknown, (data: Json) => Content | null>([
  ["session.start", startOf],
  ["session.resume", startOf],
  ["session.model_change", (data) => ({ type: "start", model: text(data["newModel"]) })],
  ["session.title_changed", (data) => ({ type: "title", text: text(data["title"]) ?? "" })],
  ["user.message", userOf],
  ["assistant.message", answerOf],
  ["assistant.turn_end", () => ({ type: "turn-end" })],
  ["tool.execution_complete", resultOf],
  ["session.usage_record", usageOf],
  ["abort", () => ({ type: "broken-off", text: INTERRUPTED_BY_USER })],
  ["session.error", (data) => ({ type: "broken-off", text: text(data["message"]) ?? "An error" })],
  ["session.compaction_complete", compactionOf],
]);

function startOf(data: Json): Content {
  return { type: "start", model: text(data["selectedModel"]) };
}

function usageOf({ usage }: Json): Content | null {
  return isRecord(usage) ? { type: "usage", tokens: tokensOf(usage) } : null;
}

function compactionOf(data: Json): Content | null {
  return data["success"] === true ? { type: "compaction", text: text(data["summaryContent"]) ?? "" } : null;
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

/** The reported input includes cache reads and writes. */
function tokensOf(usage: Json): Tokens {
  const cacheRead = tokenCount(usage["cacheReadTokens"]);
  const cacheWrite = tokenCount(usage["cacheWriteTokens"]);
  const input = Math.max(0, tokenCount(usage["inputTokens"]) - cacheRead - cacheWrite);
  return { input, output: tokenCount(usage["outputTokens"]), cacheRead, cacheWrite };
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
