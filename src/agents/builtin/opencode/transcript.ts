/**
 * Reads the transcripts that our plugin writes: `session` (OpenCode's session data), `message` (with its parts, as
 * OpenCode exports them) and `removed`. The plugin writes a changed message again; the last one counts.
 */

import { isRecord } from "../../../base/json.ts";
import { type Tokens, tokenCount } from "../../../model/tokens.ts";
import { completeLines, type Line, parseLine } from "../../../transcripts/lines.ts";
import { INTERRUPTED_BY_USER, type TranscriptEntry, type TranscriptItem } from "../../shared/transcript/items.ts";

type Json = Record<string, unknown>;

export interface Message {
  id: string;
  role: "user" | "assistant";
  time: string | null;
  /** For an answer: the message that it answers. */
  parentId: string | null;
  model: string | null;
  tokens: Tokens | null;
  /** The cost in US dollars; null if OpenCode reports 0 because it does not know the price. */
  usd: number | null;
  /** The message is complete, and all its tools have results. A compaction is complete with its summary. */
  whole: boolean;
  interrupted: boolean;
  /** The answer is a compaction's summary, which replaces everything before it. */
  summary: boolean;
  parts: Part[];
  /** The message's last line. */
  at: Line;
  /** OpenCode's own data. */
  native: { info: Json; parts: Json[] };
}

type Part =
  | { type: "text"; text: string; synthetic: boolean }
  | { type: "reasoning"; text: string }
  | { type: "tool"; id: string; name: string; status: string; input: unknown; output: string; metadata: unknown }
  | { type: "compaction" };

export interface Records {
  /** In the order of their first appearance. */
  messages: Message[];
  session: Json | null;
}

export function* readEntries(bytes: Buffer, from = 0): Generator<TranscriptEntry> {
  const { messages, session } = readRecords(bytes, from);
  const title = text(session?.["title"]);
  if (title && !isPlaceholder(title)) yield titleEntry(title);
  for (const message of messages) {
    const { id, time, at, whole } = message;
    yield { id, time, start: at.start, end: at.end, items: itemsOf(message, messages), cuttable: whole };
  }
}

function titleEntry(title: string): TranscriptEntry {
  return { id: null, time: null, start: 0, end: 0, cuttable: false, items: [{ kind: "title", text: title }] };
}

/** Whether OpenCode generated the title, which it does until the first answer. */
function isPlaceholder(title: string): boolean {
  return /^(?:New|Child) session - \d{4}-/.test(title);
}

/** A compaction after an interruption means that the user continued the turn. */
const AFTER_INTERRUPTION: TranscriptItem = { kind: "completed" };

function itemsOf(message: Message, all: readonly Message[]): TranscriptItem[] {
  if (message.parts.some((part) => part.type === "compaction")) {
    const summary = all.find((other) => other.summary && other.parentId === message.id);
    return [AFTER_INTERRUPTION, { kind: "compaction", text: summary ? wordsOf(summary) : "" }];
  }
  const items: TranscriptItem[] = [];
  if (message.tokens) items.push({ kind: "usage", tokens: message.tokens, usd: message.usd, key: null });
  // Its words are the compaction's.
  if (message.summary) return [AFTER_INTERRUPTION, ...items];
  const prompt = promptOf(message);
  if (prompt !== null) return [...items, { kind: "prompt", text: prompt }];
  if (message.model !== null) items.push({ kind: "model", model: message.model });
  for (const part of message.parts) items.push(...partItems(message, part));
  if (message.interrupted) items.push({ kind: "interrupted", text: INTERRUPTED_BY_USER });
  return items;
}

function partItems(message: Message, part: Part): TranscriptItem[] {
  switch (part.type) {
    case "text":
      if (part.text.trim() === "") return [];
      return [{ kind: message.role === "assistant" && !part.synthetic ? "answer" : "note", text: part.text }];
    case "reasoning":
      return part.text.trim() === "" ? [] : [{ kind: "thinking", text: part.text }];
    case "tool":
      return toolItems(part);
    case "compaction":
      return [];
  }
}

function toolItems(part: Part & { type: "tool" }): TranscriptItem[] {
  const { id: toolUseId, name: toolName, input, output, status } = part;
  const items: TranscriptItem[] = [{ kind: "tool-use", toolUseId, toolName, input }];
  const files = filesOf(part);
  if (files.length > 0) items.push({ kind: "files", files, toolUseId });
  const isOver = status === "completed" || status === "error";
  if (isOver) items.push({ kind: "tool-result", toolUseId, toolName, text: output });
  return items;
}

/** Skips a line that repeats an earlier message if that message is not in these bytes. */
export function readRecords(buffer: Buffer, from = 0): Records {
  const messages = new Map<string, Message>();
  let session: Json | null = null;
  for (const at of completeLines(buffer, from)) {
    const line = parseLine(buffer, at);
    if (!isRecord(line)) continue;
    if (line["type"] === "session" && isRecord(line["info"])) session = line["info"];
    if (line["type"] === "removed") messages.delete(String(line["id"]));
    if (line["type"] !== "message") continue;
    const message = toMessage(line, at);
    if (message && (line["late"] !== true || messages.has(message.id))) messages.set(message.id, message);
  }
  return { messages: [...messages.values()], session };
}

function toMessage(line: Json, at: Line): Message | null {
  const { info } = line;
  if (!isRecord(info)) return null;
  const { id, role } = info;
  if (typeof id !== "string" || id === "" || (role !== "user" && role !== "assistant")) return null;
  const nativeParts = Array.isArray(line["parts"]) ? line["parts"].filter(isRecord) : [];
  const parts = nativeParts.flatMap((part) => toPart(part) ?? []);
  return {
    id,
    role,
    time: timeOf(info["time"]),
    parentId: text(info["parentID"]),
    model: role === "assistant" ? text(info["modelID"]) : null,
    tokens: role === "assistant" ? tokensOf(info["tokens"]) : null,
    usd: role === "assistant" && typeof info["cost"] === "number" && info["cost"] > 0 ? info["cost"] : null,
    whole: role === "user" ? !parts.some((part) => part.type === "compaction") : isWhole(info, parts),
    interrupted: isRecord(info["error"]) && info["error"]["name"] === "MessageAbortedError",
    summary: info["summary"] === true,
    parts,
    at,
    native: { info, parts: nativeParts },
  };
}

function toPart(part: Json): Part | null {
  switch (part["type"]) {
    case "text":
      return { type: "text", text: text(part["text"]) ?? "", synthetic: part["synthetic"] === true };
    case "reasoning":
      return { type: "reasoning", text: text(part["text"]) ?? "" };
    case "tool": {
      const state = isRecord(part["state"]) ? part["state"] : {};
      return {
        type: "tool",
        id: text(part["callID"]) ?? "",
        name: text(part["tool"]) ?? "",
        status: text(state["status"]) ?? "",
        input: state["input"],
        output: text(state["output"]) ?? text(state["error"]) ?? "",
        metadata: state["metadata"],
      };
    }
    case "compaction":
      return { type: "compaction" };
    default:
      return null;
  }
}

/** The text that the user or the model wrote in the message. */
function wordsOf(message: Message): string {
  const texts = message.parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : []));
  return texts.join("\n").trim();
}

/** The user's prompt; null if the user wrote nothing. */
function promptOf(message: Message): string | null {
  return message.role === "user" ? wordsOf(message) || null : null;
}

function isWhole(info: Json, parts: readonly Part[]): boolean {
  const isOver = (isRecord(info["time"]) && typeof info["time"]["completed"] === "number") || isRecord(info["error"]);
  return (
    isOver && !parts.some((part) => part.type === "tool" && part.status !== "completed" && part.status !== "error")
  );
}

/** OpenCode counts thoughts separately; other agents count them as output. */
function tokensOf(tokens: unknown): Tokens | null {
  if (!isRecord(tokens)) return null;
  const cache = isRecord(tokens["cache"]) ? tokens["cache"] : {};
  return {
    input: tokenCount(tokens["input"]),
    output: tokenCount(tokens["output"]) + tokenCount(tokens["reasoning"]),
    cacheRead: tokenCount(cache["read"]),
    cacheWrite: tokenCount(cache["write"]),
  };
}

function timeOf(time: unknown): string | null {
  const created = isRecord(time) ? time["created"] : undefined;
  if (typeof created !== "number") return null;
  const date = new Date(created);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** A failed tool use wrote nothing; a running one may have. Files changed by commands are unknown. */
function filesOf({ name, status, input, metadata }: Part & { type: "tool" }): string[] {
  if (status === "error") return [];
  switch (name) {
    case "write":
    case "edit":
    case "multiedit":
      return isRecord(input) ? paths([input["filePath"]]) : [];
    case "patch":
    case "apply_patch": {
      const files = isRecord(metadata) && Array.isArray(metadata["files"]) ? metadata["files"].filter(isRecord) : [];
      return files.flatMap((file) => paths([file["filePath"], file["movePath"]]));
    }
    default:
      return [];
  }
}

function paths(values: unknown[]): string[] {
  return values.filter((value): value is string => typeof value === "string" && value !== "" && !value.includes("\0"));
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
