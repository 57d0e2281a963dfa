/**
 * Lines of a conversation as our plugin writes them: `session` (what OpenCode knows of it), `message` (with its parts,
 * as OpenCode exports them) and `removed`. A message that changed is written again; the last one counts.
 */
import type { Line } from "../../transcripts/lines.ts";
import { asBuffer, completeLines, parseLine } from "../../transcripts/lines.ts";
import { type Tokens, tokenCount } from "../../transcripts/model.ts";
import { isRecord } from "../profile.ts";

type Json = Record<string, unknown>;

export interface Message {
  id: string;
  role: "user" | "assistant";
  time: string | null;
  /** Of an answer: the message that it answers. */
  parentId: string | null;
  model: string | null;
  tokens: Tokens | null;
  /** Nothing will be added to it, and every tool in it has its result. A compaction is whole with its summary. */
  whole: boolean;
  interrupted: boolean;
  /** Of a compaction: the answer that stands for everything before. */
  summary: boolean;
  parts: Part[];
  /** Where its last line is. */
  at: Line;
  /** As OpenCode has it. */
  native: { info: Json; parts: Json[] };
}

export type Part =
  | { type: "text"; text: string; synthetic: boolean }
  | { type: "reasoning"; text: string }
  | { type: "tool"; id: string; name: string; status: string; input: unknown; output: string; metadata: unknown }
  | { type: "compaction" };

export interface Records {
  /** In the order in which they were first written. */
  messages: Message[];
  session: Json | null;
}

/** Lines that tell anew of a message of before are left out where that message is not among these bytes. */
export function readRecords(bytes: Uint8Array): Records {
  const buffer = asBuffer(bytes);
  const messages = new Map<string, Message>();
  let session: Json | null = null;
  for (const at of completeLines(buffer)) {
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

/** What a person or the model said in it. */
export function wordsOf(message: Message): string {
  const texts = message.parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : []));
  return texts.join("\n").trim();
}

/** What the user asked; null where the user said nothing. */
export function promptOf(message: Message): string | null {
  return message.role === "user" ? wordsOf(message) || null : null;
}

export function isCompaction(message: Message): boolean {
  return message.parts.some((part) => part.type === "compaction");
}

function isWhole(info: Json, parts: readonly Part[]): boolean {
  const isOver = (isRecord(info["time"]) && typeof info["time"]["completed"] === "number") || isRecord(info["error"]);
  return (
    isOver && !parts.some((part) => part.type === "tool" && part.status !== "completed" && part.status !== "error")
  );
}

/** Thoughts are counted apart; other agents count them as output. */
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

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
