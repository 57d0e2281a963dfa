/**
 * Lines of Droid's transcript: a head that says whose it is, messages, the outcome of each turn, compactions. Runs of
 * hooks are messages as well, for the user's eyes only.
 */
import { type Line, parseLine } from "../../transcripts/lines.ts";
import { type Block, blocksOf, textOf } from "../content-blocks.ts";
import { isRecord } from "../profile.ts";

/** What is read of a line; everything that is not of the expected shape is null or empty. */
export type DroidLine =
  | { type: "head"; id: string | null; title: string | null; parent: string | null }
  | MessageLine
  | { type: "outcome"; reason: string }
  | { type: "compaction"; id: string | null; time: string | null; text: string };

export interface MessageLine {
  type: "message";
  id: string;
  time: string | null;
  role: "user" | "assistant";
  /** Who gets to see it: the model (`llm_only`), the user (`user_only`), or both. */
  audience: "both" | "model" | "user";
  model: string | null;
  blocks: Block[];
}

type Json = Record<string, unknown>;

export function readLine(bytes: Buffer, line: Line): DroidLine | null {
  if (line.end - line.start < 2) return null;
  const value = parseLine(bytes, line);
  if (!isRecord(value)) return null;
  switch (value["type"]) {
    case "session_start":
      return { type: "head", id: text(value["id"]), title: text(value["title"]), parent: text(value["parent"]) };
    case "message":
      return messageOf(value);
    case "agent_turn_outcome":
      return { type: "outcome", reason: text(value["reason"]) ?? "" };
    case "compaction_state": {
      const said = text(value["summaryText"]) ?? "";
      return { type: "compaction", id: text(value["id"]), time: text(value["timestamp"]), text: said };
    }
    default:
      return null;
  }
}

/** A run of a hook says nothing. */
function messageOf(value: Json): MessageLine | null {
  const { message, id } = value;
  if (!isRecord(message) || typeof id !== "string" || message["hookEventName"] !== undefined) return null;
  const visibility = message["visibility"];
  return {
    type: "message",
    id,
    time: text(value["timestamp"]),
    role: message["role"] === "assistant" ? "assistant" : "user",
    audience: visibility === "llm_only" ? "model" : visibility === "user_only" ? "user" : "both",
    model: text(message["modelId"]),
    blocks: blocksOf(message["content"]),
  };
}

/** The user's own words: neither a tool's result nor what Droid adds for the model or for the user. */
export function promptOf(line: MessageLine): string | null {
  if (line.role !== "user" || line.audience !== "both") return null;
  if (line.blocks.some((block) => block.type === "tool_result")) return null;
  const words = textOf(line.blocks);
  return words.trim() === "" || words.startsWith("<system-reminder>") ? null : words;
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
