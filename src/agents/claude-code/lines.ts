/**
 * Lines of Claude Code's transcript. Chain lines (user, assistant, attachment, system) have a `uuid` and make
 * up the conversation; the rest is bookkeeping of many kinds, skipped by a look at its first bytes.
 */

import { type Line, parseLine } from "../../transcripts/lines.ts";
import { type Tokens, tokenCount } from "../../transcripts/model.ts";
import { type Block, blocksOf } from "../content-blocks.ts";
import { isRecord } from "../profile.ts";

export type ChainType = "user" | "assistant" | "attachment" | "system";

/** What is read of a chain line; everything that is not of the expected shape is null or empty. */
export interface ChainLine {
  type: ChainType;
  uuid: string;
  time: string | null;
  /** Of a subagent: in a file of its own, or, as older versions did it, among the session's lines. */
  sidechain: boolean;
  /** Not shown to the user as theirs: caveats, companions of commands. */
  meta: boolean;
  compaction: boolean;
  messageId: string | null;
  model: string | null;
  stopReason: string | null;
  tokens: Tokens | null;
  blocks: Block[];
  toolUseResult: unknown;
}

const TYPE_PREFIX = '{"type":"';

/**
 * The type of a line that begins with it, told without parsing; null where another key comes first, as in
 * the chain lines that Claude Code itself writes.
 */
export function leadingType(bytes: Buffer, line: Line): string | null {
  const head = bytes.toString("latin1", line.start, Math.min(line.end, line.start + 60));
  if (!head.startsWith(TYPE_PREFIX)) return null;
  const end = head.indexOf('"', TYPE_PREFIX.length);
  return end < 0 ? null : head.slice(TYPE_PREFIX.length, end);
}

const ATTACHMENT = /^\{"parentUuid":(?:null|"[^"]*"),"isSidechain":(true|false),"attachment":/;

/**
 * An attachment, told without parsing: most of a transcript's bytes are in these, and nothing in them says
 * what happened. Null where the line is none, or is written in another order.
 */
export function leadingAttachment(bytes: Buffer, line: Line): { sidechain: boolean } | null {
  const head = bytes.toString("latin1", line.start, Math.min(line.end, line.start + 120));
  const match = ATTACHMENT.exec(head);
  return match === null ? null : { sidechain: match[1] === "true" };
}

/** Whether the line can be one of the conversation's. */
export function mayBeChain(bytes: Buffer, line: Line): boolean {
  if (line.end - line.start < 2) return false;
  const type = leadingType(bytes, line);
  return type === null || isChainType(type);
}

export function readChainLine(bytes: Buffer, line: Line): ChainLine | null {
  return toChainLine(parseLine(bytes, line));
}

export function toChainLine(value: unknown): ChainLine | null {
  if (!isRecord(value) || !isChainType(value["type"]) || typeof value["uuid"] !== "string") return null;
  const message = isRecord(value["message"]) ? value["message"] : {};
  return {
    type: value["type"],
    uuid: value["uuid"],
    time: text(value["timestamp"]),
    sidechain: value["isSidechain"] === true,
    meta: value["isMeta"] === true,
    compaction: value["isCompactSummary"] === true || value["subtype"] === "compact_boundary",
    messageId: text(message["id"]) ?? text(value["requestId"]),
    model: modelOf(message),
    stopReason: text(message["stop_reason"]),
    tokens: value["type"] === "assistant" ? tokensOf(message["usage"]) : null,
    blocks: blocksOf(message["content"]),
    toolUseResult: value["toolUseResult"],
  };
}

function isChainType(type: unknown): type is ChainType {
  return type === "user" || type === "assistant" || type === "attachment" || type === "system";
}

/** Errors and refusals that Claude Code writes by itself carry the model "<synthetic>". */
function modelOf(message: Record<string, unknown>): string | null {
  const model = text(message["model"]);
  return model === "<synthetic>" ? null : model;
}

function tokensOf(usage: unknown): Tokens | null {
  if (!isRecord(usage)) return null;
  return {
    input: tokenCount(usage["input_tokens"]),
    output: tokenCount(usage["output_tokens"]),
    cacheRead: tokenCount(usage["cache_read_input_tokens"]),
    cacheWrite: tokenCount(usage["cache_creation_input_tokens"]),
  };
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
