/**
 * Lines of a Pi session. The first is its header; every other one is an entry of a tree, with its own id and its
 * parent's. Pi writes these in front, so that a line's place in the tree is known without reading the rest.
 */
import { type Line, parseLine } from "../../transcripts/lines.ts";
import { addTokens, NO_TOKENS, type Tokens, tokenCount } from "../../transcripts/model.ts";
import { isRecord } from "../profile.ts";

type Json = Record<string, unknown>;

/** Where an entry is in the tree. */
export interface Place {
  id: string;
  parentId: string | null;
}

export interface PiEntry extends Place {
  type: string;
  time: string | null;
  /** Of a message; null for every other entry. */
  role: string | null;
  blocks: Block[];
  model: string | null;
  stopReason: string | null;
  tokens: Tokens | null;
  /** Of a tool's result. */
  result: { toolUseId: string; toolName: string | null; failed: boolean } | null;
  /** Of a compaction or of a branch that was left. */
  summary: string | null;
  /** Of the session, as its user named it. */
  name: string | null;
}

export type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "toolCall"; id: string; name: string; input: unknown };

const HEAD_BYTES = 256;
const HEAD = /^\{"type":"([a-z_]+)","id":"([^"\\]+)","parentId":(?:null|"([^"\\]+)"),/;
/** What the model is told in the beginning is long, and nobody here asks for it. */
const SYSTEM = /"message":\{"role":"system"/;

export function placeOf(buffer: Buffer, line: Line): Place | null {
  const head = HEAD.exec(headOf(buffer, line));
  if (head) return { id: head[2] ?? "", parentId: head[3] ?? null };
  return toPlace(parseLine(buffer, line));
}

export function readEntry(buffer: Buffer, line: Line): PiEntry | null {
  const head = headOf(buffer, line);
  const place = SYSTEM.test(head) ? HEAD.exec(head) : null;
  if (place) return { ...blank({ id: place[2] ?? "", parentId: place[3] ?? null }, "message"), role: "system" };
  return toEntry(parseLine(buffer, line));
}

/** The header's fields, where the bytes begin with one. */
export function readHeader(buffer: Buffer): Json | null {
  const end = buffer.indexOf(10);
  const header = end < 0 ? undefined : parseLine(buffer, { start: 0, end });
  return isRecord(header) && header["type"] === "session" ? header : null;
}

export function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

export function isPrompt(entry: PiEntry): boolean {
  return entry.role === "user";
}

function headOf(buffer: Buffer, line: Line): string {
  return buffer.toString("latin1", line.start, Math.min(line.end, line.start + HEAD_BYTES));
}

function toPlace(value: unknown): Place | null {
  if (!isRecord(value) || value["type"] === "session") return null;
  const { id, parentId } = value;
  if (typeof id !== "string" || id === "") return null;
  return { id, parentId: typeof parentId === "string" ? parentId : null };
}

function blank(place: Place, type: string): PiEntry {
  return {
    ...place,
    type,
    time: null,
    role: null,
    blocks: [],
    model: null,
    stopReason: null,
    tokens: null,
    result: null,
    summary: null,
    name: null,
  };
}

function toEntry(value: unknown): PiEntry | null {
  const place = toPlace(value);
  if (place === null || !isRecord(value)) return null;
  const entry = { ...blank(place, text(value["type"]) ?? ""), time: text(value["timestamp"]) };
  switch (entry.type) {
    case "message":
      return isRecord(value["message"]) ? withMessage(entry, value["message"]) : null;
    case "custom_message":
      return { ...entry, role: "custom", blocks: toBlocks(value["content"]) };
    case "session_info":
      return { ...entry, name: text(value["name"]) };
    default:
      return { ...entry, summary: text(value["summary"]), tokens: tokensOf(value["usage"]) };
  }
}

function withMessage(entry: PiEntry, message: Json): PiEntry {
  const role = text(message["role"]) ?? "";
  const read: PiEntry = { ...entry, role, blocks: toBlocks(message["content"]) };
  switch (role) {
    case "assistant":
      return {
        ...read,
        model: text(message["model"]),
        stopReason: text(message["stopReason"]),
        tokens: tokensOf(message["usage"]),
      };
    case "toolResult": {
      const toolName = text(message["toolName"]);
      const failed = message["isError"] === true;
      return {
        ...read,
        result: { toolUseId: text(message["toolCallId"]) ?? "", toolName, failed },
        tokens: toolName === "subagent" ? subagentTokens(message["details"]) : null,
      };
    }
    case "bashExecution":
      return { ...read, blocks: [{ type: "text", text: `! ${text(message["command"]) ?? ""}` }] };
    default:
      return read;
  }
}

function toBlocks(content: unknown): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord).flatMap((block) => toBlock(block) ?? []) : [];
}

function toBlock(block: Json): Block | null {
  switch (block["type"]) {
    case "text":
      return { type: "text", text: text(block["text"]) ?? "" };
    case "thinking":
      return { type: "thinking", text: text(block["thinking"]) ?? "" };
    case "toolCall":
      return {
        type: "toolCall",
        id: text(block["id"]) ?? "",
        name: text(block["name"]) ?? "",
        input: block["arguments"],
      };
    default:
      return null;
  }
}

function tokensOf(usage: unknown): Tokens | null {
  if (!isRecord(usage)) return null;
  return {
    input: tokenCount(usage["input"]),
    output: tokenCount(usage["output"]),
    cacheRead: tokenCount(usage["cacheRead"]),
    cacheWrite: tokenCount(usage["cacheWrite"]),
  };
}

/** Subagents are processes of their own, and only their results tell what they used. */
function subagentTokens(details: unknown): Tokens | null {
  const results = isRecord(details) && Array.isArray(details["results"]) ? details["results"].filter(isRecord) : [];
  return results.reduce<Tokens>((sum, { usage }) => addTokens(sum, tokensOf(usage) ?? NO_TOKENS), NO_TOKENS);
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
