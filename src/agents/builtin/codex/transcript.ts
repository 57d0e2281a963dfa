/**
 * Reads Codex's rollouts. `response_item` lines contain what the model receives, `event_msg` lines what the user sees.
 * Most bytes are context that does not report what happened; the reader recognizes it by the first bytes and skips it.
 */

import { isRecord } from "../../../base/json.ts";
import { NO_TOKENS, type Tokens, tokenCount } from "../../../model/tokens.ts";
import { type Line, parseLine, readLines } from "../../../transcripts/lines.ts";
import type { ShellUse } from "../../contract/agent.ts";
import { CutPoints } from "../../shared/transcript/cut-points.ts";
import { INTERRUPTED_BY_USER, type TranscriptEntry, type TranscriptItem } from "../../shared/transcript/items.ts";

interface RolloutLine {
  /** The line's number in the conversation; older rollouts have none. */
  id: string | null;
  time: string | null;
  content: Content;
}

type Content =
  | { type: "turn-start" }
  | { type: "turn-end"; interrupted: boolean }
  /** The user's message, as the user sees it. */
  | { type: "prompt"; text: string }
  /** What another agent asks of this one; its words may be encrypted. */
  | { type: "task"; text: string }
  /** An answer as the user sees it, then (`message`) as the model receives it. */
  | { type: "answer"; id: string | null; text: string }
  | { type: "message"; id: string | null; role: string }
  | { type: "thinking"; text: string }
  | { type: "call"; callId: string; name: string; input: unknown }
  | { type: "result"; callId: string; text: string }
  | { type: "files"; files: string[] }
  | { type: "usage"; response: string | null; tokens: Tokens }
  /** In older rollouts: the usage of the last answer, written repeatedly. */
  | { type: "count"; tokens: Tokens }
  | { type: "context"; model: string }
  | { type: "compaction"; text: string };

export function* readEntries(bytes: Buffer, from = 0): Generator<TranscriptEntry> {
  const cuts = new CutPoints();
  const items = new Items();
  for (const [{ id, time, content }, { start, end }] of readLines(bytes, readLine, from)) {
    const said = items.of(content);
    yield { id, time, start, end, items: said, cuttable: canCutAfter(content, said, cuts) };
  }
}

class Items {
  #lastCall: string | null = null;
  /** An answer came after the last running count, so the next count is new. */
  #answered = false;

  of(content: Content): TranscriptItem[] {
    switch (content.type) {
      case "prompt":
      case "compaction":
        return [{ kind: content.type, text: content.text }];
      case "task":
        return [{ kind: "note", text: content.text }];
      case "answer":
        this.#answered = true;
        return [{ kind: "answer", text: content.text }];
      case "message":
        if (content.role === "assistant") this.#answered = true;
        return [];
      case "thinking":
        this.#answered = true;
        return content.text === "" ? [] : [{ kind: "thinking", text: content.text }];
      case "call":
        this.#answered = true;
        this.#lastCall = content.callId;
        return [{ kind: "tool-use", toolUseId: content.callId, toolName: content.name, input: content.input }];
      case "result":
        return [{ kind: "tool-result", toolUseId: content.callId, text: content.text }];
      case "files":
        // A script of the model may apply a patch; the change appears between the script's call and its result.
        return [{ kind: "files", files: content.files, toolUseId: this.#lastCall }];
      case "usage":
        return [{ kind: "usage", tokens: content.tokens, key: content.response }];
      case "count":
        return this.#countItems(content.tokens);
      case "context":
        return [{ kind: "model", model: content.model }];
      case "turn-end":
        return content.interrupted ? [{ kind: "interrupted", text: INTERRUPTED_BY_USER }] : [{ kind: "completed" }];
      case "turn-start":
        return [];
    }
  }

  #countItems(tokens: Tokens): TranscriptItem[] {
    const isNew = this.#answered;
    this.#answered = false;
    return isNew ? [{ kind: "usage", tokens, key: null, isFallback: true }] : [];
  }
}

/**
 * Codex starts a turn before it writes the prompt, and writes an answer for the user before it writes the model's copy.
 * A prompt in the middle of a turn leaves the turn's calls open.
 */
function canCutAfter(content: Content, items: readonly TranscriptItem[], cuts: CutPoints): boolean {
  switch (content.type) {
    case "turn-start":
      cuts.clear();
      cuts.open("prompt");
      break;
    case "turn-end":
      cuts.clear();
      break;
    case "compaction":
      cuts.clear("prompt");
      break;
    case "prompt":
      cuts.close("prompt");
      return cuts.canCut;
    case "task":
    case "call":
      cuts.close("prompt");
      break;
    case "answer":
      cuts.close("prompt");
      if (content.id !== null) cuts.open(`answer ${content.id}`);
      break;
    case "message":
      cuts.close(`answer ${content.id}`);
      break;
    default:
      break;
  }
  return cuts.add(items);
}

const HEAD = /^\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"([a-z_]+)","payload":\{(?:"type":"([a-z_]+)")?/;
const HEAD_BYTES = 440;
const SKIPPED = new Set(["world_state", "session_meta", "additional_tools", "thread_settings_applied"]);

/** Null if the line contains nothing relevant. */
export function readLine(bytes: Buffer, line: Line): RolloutLine | null {
  return isSkipped(bytes, line) ? null : toRolloutLine(parseLine(bytes, line));
}

/** Decides without parsing. A line that orders its keys differently is not skipped. */
function isSkipped(bytes: Buffer, line: Line): boolean {
  if (line.end - line.start < 2) return true;
  const head = bytes.toString("latin1", line.start, Math.min(line.end, line.start + HEAD_BYTES));
  const match = HEAD.exec(head);
  if (match === null) return false;
  if (SKIPPED.has(match[1] ?? "") || SKIPPED.has(match[2] ?? "")) return true;
  return match[2] === "item_completed" && head.includes('"item":{"type":"CommandExecution"');
}

function toRolloutLine(value: unknown): RolloutLine | null {
  if (!isRecord(value) || !isRecord(value["payload"])) return null;
  const content = contentOf(value["type"], value["payload"]);
  if (content === null) return null;
  const { ordinal } = value;
  return { id: typeof ordinal === "number" ? String(ordinal) : null, time: text(value["timestamp"]), content };
}

type Json = Record<string, unknown>;

function contentOf(type: unknown, payload: Json): Content | null {
  switch (type) {
    case "event_msg":
      return eventOf(payload);
    case "response_item":
      return itemOf(payload);
    case "token_usage_record":
      return { type: "usage", response: text(payload["response_id"]), tokens: usageOf(payload["usage"]) };
    case "turn_context": {
      const model = text(payload["model"]);
      return model === null ? null : { type: "context", model };
    }
    case "compacted":
      return { type: "compaction", text: text(payload["message"]) ?? "" };
    default:
      return null;
  }
}

function eventOf(payload: Json): Content | null {
  switch (payload["type"]) {
    case "task_started":
      return { type: "turn-start" };
    case "task_complete":
      return { type: "turn-end", interrupted: false };
    case "turn_aborted":
      return { type: "turn-end", interrupted: true };
    case "item_completed":
      return isRecord(payload["item"]) ? completedOf(payload["item"]) : null;
    case "user_message":
      return { type: "prompt", text: text(payload["message"]) ?? "" };
    case "agent_message":
      return { type: "answer", id: null, text: text(payload["message"]) ?? "" };
    case "patch_apply_end":
      return payload["success"] === true ? { type: "files", files: changedFiles(payload["changes"]) } : null;
    case "token_count":
      return countOf(payload["info"]);
    default:
      return null;
  }
}

function completedOf(item: Json): Content | null {
  switch (item["type"]) {
    case "UserMessage":
      return { type: "prompt", text: textOf(item["content"]) };
    case "AgentMessage":
      return { type: "answer", id: text(item["id"]), text: textOf(item["content"]) };
    case "FileChange":
      return item["status"] === "completed" ? { type: "files", files: changedFiles(item["changes"]) } : null;
    default:
      return null;
  }
}

const ABORTED = "<turn_aborted>";

function itemOf(payload: Json): Content | null {
  const type = payload["type"];
  if (type === "message") {
    // Codex writes this before it calls the hook, and the end of the turn after it.
    if (textOf(payload["content"]).startsWith(ABORTED)) return { type: "turn-end", interrupted: true };
    return { type: "message", id: text(payload["id"]), role: text(payload["role"]) ?? "" };
  }
  if (type === "agent_message") return { type: "task", text: textOf(payload["content"]) };
  if (type === "reasoning") return { type: "thinking", text: textOf(payload["summary"]) };
  const callId = text(payload["call_id"]);
  if (typeof type !== "string" || callId === null) return null;
  if (type.endsWith("_output")) return { type: "result", callId, text: textOf(payload["output"]) };
  if (!type.endsWith("_call")) return null;
  const input = payload["input"] ?? payload["action"] ?? parsed(payload["arguments"]);
  return { type: "call", callId, name: text(payload["name"]) ?? type, input };
}

function countOf(info: unknown): Content | null {
  if (!isRecord(info) || !isRecord(info["last_token_usage"])) return null;
  return { type: "count", tokens: usageOf(info["last_token_usage"]) };
}

/** Codex includes cache reads and writes in the input count. */
function usageOf(usage: unknown): Tokens {
  if (!isRecord(usage)) return { ...NO_TOKENS };
  const cacheRead = tokenCount(usage["cached_input_tokens"]);
  const cacheWrite = tokenCount(usage["cache_write_input_tokens"]);
  const input = Math.max(0, tokenCount(usage["input_tokens"]) - cacheRead - cacheWrite);
  return { input, output: tokenCount(usage["output_tokens"]), cacheRead, cacheWrite };
}

/** `exec_command` has a command field; a script for `exec` calls tools and contains their commands as JSON. */
export function shellUse(toolName: string | null, input: unknown): ShellUse | null {
  if (toolName === "exec" && typeof input === "string") return { commands: commandsIn(input), inBackground: false };
  if (toolName !== "exec_command" || !isRecord(input)) return null;
  const command = text(input["command"]) ?? text(input["cmd"]);
  return { commands: command ? [command] : [], inBackground: false };
}

function commandsIn(script: string): string[] {
  return [...script.matchAll(/"cmd":\s*("(?:[^"\\]|\\.)*")/g)].flatMap(([, quoted = ""]) => {
    const command = parsed(quoted);
    return typeof command === "string" ? [command] : [];
  });
}

/** Includes both paths of a moved file. */
function changedFiles(changes: unknown): string[] {
  if (!isRecord(changes)) return [];
  const names = Object.entries(changes).flatMap(([path, change]) => [
    path,
    isRecord(change) ? text(change["move_path"]) : null,
  ]);
  return names.filter((name) => name !== null && name !== "" && !name.includes("\0")) as string[];
}

/** Joins the text of content parts; skips encrypted parts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((piece) => (isRecord(piece) ? (text(piece["text"]) ?? []) : [])).join("");
}

function parsed(json: unknown): unknown {
  if (typeof json !== "string") return json;
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
