/**
 * Reads Pi's sessions. The first line is a header; every other line is a node of a tree, with its id and its parent's
 * id. Pi writes both ids first, so the reader learns a node's position without parsing the rest of the line.
 */

import { isRecord } from "../../../base/json.ts";
import { addTokens, NO_TOKENS, type Tokens, tokenCount } from "../../../model/tokens.ts";
import { completeLines, type Line, parseLine } from "../../../transcripts/lines.ts";
import { CutPoints } from "../../shared/transcript/cut-points.ts";
import { INTERRUPTED_BY_USER, type TranscriptEntry, type TranscriptItem } from "../../shared/transcript/items.ts";

type Json = Record<string, unknown>;

/** A node's position in the tree. */
interface Position {
  id: string;
  parentId: string | null;
}

export interface PiNode extends Position {
  type: string;
  time: string | null;
  /** Of a message; null for every other node. */
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

type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "toolCall"; id: string; name: string; input: unknown };

/**
 * If the bytes start with the header, only the active branch is the conversation. A part of a session has no root, so
 * every line counts. In a tail every line counts too, because a turn stays on its branch.
 */
export function readEntries(bytes: Buffer, from = 0, isTail = false): Generator<TranscriptEntry> {
  const isWhole = !isTail && from === 0 && readHeader(bytes) !== null;
  const active = isWhole ? new Set(branchTo(bytes, null).map((line) => line.start)) : null;
  return readLinesOf(bytes, completeLines(bytes, from), active);
}

/** The entries of these lines. Only those that start at an offset in `active` are the conversation; null means all. */
export function* readLinesOf(
  bytes: Buffer,
  lines: Iterable<Line>,
  active: ReadonlySet<number> | null = null,
): Generator<TranscriptEntry> {
  const cuts = new CutPoints();
  for (const { start, end } of lines) {
    const node = readNode(bytes, { start, end });
    if (node === null) continue;
    const items = itemsOf(node);
    const cuttable = canCutAfter(node, items, cuts);
    const scope = active === null || active.has(start) ? undefined : "rewound";
    yield { id: node.id, time: node.time, start, end, items, cuttable, scope };
  }
}

function canCutAfter(node: PiNode, items: readonly TranscriptItem[], cuts: CutPoints): boolean {
  const hasFailed = node.stopReason === "aborted" || node.stopReason === "error";
  if (!isPrompt(node) && !hasFailed) return cuts.add(items);
  // Pi itself gives up on open tools after a prompt or an interrupted answer.
  cuts.clear();
  return true;
}

function itemsOf(node: PiNode): TranscriptItem[] {
  const items: TranscriptItem[] = [];
  if (node.tokens) items.push({ kind: "usage", tokens: node.tokens, key: null });
  if (node.type === "session_info") items.push({ kind: "title", text: node.name ?? "" });
  if (node.model !== null) items.push({ kind: "model", model: node.model });
  items.push(...wordsOf(node));
  return items;
}

function wordsOf(node: PiNode): TranscriptItem[] {
  if (node.type === "compaction") return [{ kind: "compaction", text: node.summary ?? "" }];
  if (node.summary !== null) return [{ kind: "note", text: node.summary }];
  const text = textOf(node.blocks).trim();
  if (node.result) {
    const { toolUseId, toolName, failed } = node.result;
    return [{ kind: "tool-result", toolUseId, toolName, text, failed }];
  }
  if (node.role === "assistant") return answerItems(node);
  if (text === "") return [];
  return [{ kind: isPrompt(node) ? "prompt" : "note", text }];
}

function answerItems({ blocks, stopReason }: PiNode): TranscriptItem[] {
  const items = blocks.flatMap((block) => blockItems(block));
  return stopReason === "aborted" ? [...items, { kind: "interrupted", text: INTERRUPTED_BY_USER }] : items;
}

function blockItems(block: Block): TranscriptItem[] {
  if (block.type === "toolCall") {
    const path = writtenPath(block.name, block.input);
    const files = path === null ? [] : [path];
    return [{ kind: "tool-use", toolUseId: block.id, toolName: block.name, input: block.input, files }];
  }
  if (block.text.trim() === "") return [];
  return [{ kind: block.type === "thinking" ? "thinking" : "answer", text: block.text }];
}

/** The lines of the branch that ends with entry `leaf`, in order; the newest branch if there is no such entry. */
export function branchTo(buffer: Buffer, leaf: string | null): Line[] {
  const places = new Map<string, { parentId: string | null; line: Line }>();
  let last: string | null = null;
  for (const line of completeLines(buffer)) {
    const place = positionOf(buffer, line);
    if (place === null) continue;
    places.set(place.id, { parentId: place.parentId, line });
    last = place.id;
  }
  const branch: Line[] = [];
  let at = leaf !== null && places.has(leaf) ? leaf : last;
  while (at !== null) {
    const place = places.get(at);
    if (!place) break;
    branch.push(place.line);
    // Damaged lines could form a cycle.
    places.delete(at);
    at = place.parentId;
  }
  return branch.reverse();
}

const HEAD_BYTES = 256;
const HEAD = /^\{"type":"([a-z_]+)","id":"([^"\\]+)","parentId":(?:null|"([^"\\]+)"),/;
/** The system prompt is long, and no caller needs it. */
const SYSTEM = /"message":\{"role":"system"/;

function positionOf(buffer: Buffer, line: Line): Position | null {
  const head = HEAD.exec(headOf(buffer, line));
  if (head) return { id: head[2] ?? "", parentId: head[3] ?? null };
  return toPosition(parseLine(buffer, line));
}

export function readNode(buffer: Buffer, line: Line): PiNode | null {
  const head = headOf(buffer, line);
  const place = SYSTEM.test(head) ? HEAD.exec(head) : null;
  if (place) return { ...blank({ id: place[2] ?? "", parentId: place[3] ?? null }, "message"), role: "system" };
  return toNode(parseLine(buffer, line));
}

/** The header's fields; null if the bytes do not start with a header. Pi's descendants may write a title before it. */
export function readHeader(buffer: Buffer): Json | null {
  for (const line of completeLines(buffer)) {
    const header = parseLine(buffer, line);
    if (isRecord(header) && header["type"] === "session") return header;
    if (!isRecord(header) || header["type"] !== "title") return null;
  }
  return null;
}

function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function isPrompt(node: PiNode): boolean {
  return node.role === "user";
}

function headOf(buffer: Buffer, line: Line): string {
  return buffer.toString("latin1", line.start, Math.min(line.end, line.start + HEAD_BYTES));
}

function toPosition(value: unknown): Position | null {
  if (!isRecord(value) || value["type"] === "session") return null;
  const { id, parentId } = value;
  if (typeof id !== "string" || id === "") return null;
  return { id, parentId: typeof parentId === "string" ? parentId : null };
}

function blank(place: Position, type: string): PiNode {
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

function toNode(value: unknown): PiNode | null {
  const place = toPosition(value);
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

function withMessage(entry: PiNode, message: Json): PiNode {
  const role = text(message["role"]) ?? "";
  const read: PiNode = { ...entry, role, blocks: toBlocks(message["content"]) };
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

/** Subagents run as separate processes, and only their results report their usage. */
function subagentTokens(details: unknown): Tokens | null {
  const results = isRecord(details) && Array.isArray(details["results"]) ? details["results"].filter(isRecord) : [];
  return results.reduce<Tokens>((sum, { usage }) => addTokens(sum, tokensOf(usage) ?? NO_TOKENS), NO_TOKENS);
}

/** The file named in the input of a writing tool. Files changed by commands are unknown. */
function writtenPath(tool: string, input: unknown): string | null {
  if ((tool !== "write" && tool !== "edit") || !isRecord(input)) return null;
  const { path } = input;
  return typeof path === "string" && path !== "" && !path.includes("\0") ? path : null;
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
