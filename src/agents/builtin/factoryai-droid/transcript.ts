/**
 * Reads Droid's transcript: a head that names the session, messages, the outcome of each turn, compactions. Hook runs
 * are messages too, shown only to the user.
 */

import { isRecord } from "../../../base/json.ts";
import { type Line, parseLine, readLines } from "../../../transcripts/lines.ts";
import { type Block, blocksOf, textOf } from "../../shared/content-blocks.ts";
import { patchedPaths } from "../../shared/patch.ts";
import { CutPoints } from "../../shared/transcript/cut-points.ts";
import { INTERRUPTED_BY_USER, type TranscriptEntry, type TranscriptItem } from "../../shared/transcript/items.ts";

/** The fields we read from a line. A missing or mistyped field is null or empty. */
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
  /** Who sees the message: the model (`llm_only`), the user (`user_only`), or both. */
  audience: "both" | "model" | "user";
  model: string | null;
  blocks: Block[];
}

/** What Droid writes for the model after the user interrupted a turn. */
const INTERRUPTION = /^Request (?:interrupted|cancelled) by user/;
const CANCELLED_TOOL = "Error: Tool execution cancelled by user";

/** Every parsed line yields an entry, because a fork may end after any of them. */
export function* readEntries(bytes: Buffer, from = 0): Generator<TranscriptEntry> {
  const cuts = new CutPoints();
  for (const [line, { start, end }] of readLines(bytes, readLine, from)) {
    const items = itemsOf(line);
    if (line.type === "compaction") cuts.clear();
    const canCut = cuts.add(items);
    const isMessage = line.type === "message";
    const id = isMessage || line.type === "compaction" ? line.id : null;
    const time = isMessage || line.type === "compaction" ? line.time : null;
    yield { id, time, start, end, items, cuttable: canCut && isMessage && line.audience !== "user" };
  }
}

function itemsOf(line: DroidLine): TranscriptItem[] {
  switch (line.type) {
    case "head":
      return line.title === null ? [] : [{ kind: "title", text: line.title }];
    case "outcome":
      return line.reason === "cancelled" ? [{ kind: "interrupted", text: null }] : [];
    case "compaction":
      return [{ kind: "compaction", text: line.text }];
    case "message":
      return messageItems(line);
  }
}

function messageItems(line: MessageLine): TranscriptItem[] {
  const prompt = promptOf(line);
  if (prompt !== null) return [{ kind: "prompt", text: prompt }];
  const items = line.blocks.flatMap((block) => blockItems(line, block));
  if (line.role === "assistant") return line.model === null ? items : [{ kind: "model", model: line.model }, ...items];
  if (line.audience === "user" && items.length === 0) return errorItems(textOf(line.blocks));
  return isInterruption(line) ? [...items, interruptionIn(textOf(line.blocks))] : items;
}

/** Text shown only to the user: an error that ended the turn and that the model never sees. */
function errorItems(text: string): TranscriptItem[] {
  return text === "" ? [] : [{ kind: "interrupted", text }];
}

/** Droid writes an interruption twice, in different wording; only one is shown. */
function interruptionIn(text: string): TranscriptItem {
  return { kind: "interrupted", text: text.includes("interrupted") ? INTERRUPTED_BY_USER : null };
}

function isInterruption(line: MessageLine): boolean {
  if (line.audience === "model" && INTERRUPTION.test(textOf(line.blocks))) return true;
  return line.blocks.some((block) => block.type === "tool_result" && block.error && block.text === CANCELLED_TOOL);
}

function blockItems(line: MessageLine, block: Block): TranscriptItem[] {
  switch (block.type) {
    case "text":
      return line.role === "assistant" ? [{ kind: "answer", text: block.text }] : [];
    case "thinking":
      return line.role === "assistant" ? [{ kind: "thinking", text: block.text }] : [];
    case "tool_use": {
      const files = writtenPaths(block.name, block.input);
      return [{ kind: "tool-use", toolUseId: block.id, toolName: block.name, input: block.input, files }];
    }
    case "tool_result":
      return [{ kind: "tool-result", toolUseId: block.id, text: block.text, failed: block.error }];
  }
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

/** Null for a hook run. */
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

/** The user's text; null for tool results and for text that Droid adds for the model or the user. */
export function promptOf(line: MessageLine): string | null {
  if (line.role !== "user" || line.audience !== "both") return null;
  if (line.blocks.some((block) => block.type === "tool_result")) return null;
  const words = textOf(line.blocks);
  return words.trim() === "" || words.startsWith("<system-reminder>") ? null : words;
}

/** The files named in the input of a writing tool. */
function writtenPaths(tool: string, input: unknown): string[] {
  if (tool === "ApplyPatch") return pathsInPatch(input);
  if (tool !== "Create" && tool !== "Edit" && tool !== "MultiEdit") return [];
  const path = isRecord(input) ? input["file_path"] : undefined;
  return typeof path === "string" && path !== "" && !path.includes("\0") ? [path] : [];
}

/** The files named in a patch, which is the input itself or one of its fields. */
export function pathsInPatch(input: unknown): string[] {
  const patch = isRecord(input) ? (input["input"] ?? input["patch"]) : input;
  return typeof patch === "string" ? patchedPaths(patch) : [];
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
