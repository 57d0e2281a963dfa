/**
 * Lines of a rollout. Some hold what the model is sent (`response_item`), some what the user sees of it
 * (`event_msg`), and most of the bytes are context that says nothing of what happened: skipped by a look at a
 * line's beginning.
 */
import { type Line, parseLine } from "../../transcripts/lines.ts";
import type { Tokens } from "../../transcripts/model.ts";
import { isRecord } from "../profile.ts";
import { usageOf } from "./usage.ts";

export interface RolloutLine {
  /** The line's number in its conversation; older rollouts have none. */
  id: string | null;
  time: string | null;
  content: Content;
}

export type Content =
  | { type: "turn-start" }
  | { type: "turn-end"; interrupted: boolean }
  /** The user's words, as the user sees them. */
  | { type: "prompt"; text: string }
  /** What another agent asks of this one; its words may be encrypted. */
  | { type: "task"; text: string }
  /** The model's words as the user sees them, and then as the model will be sent them. */
  | { type: "answer"; id: string | null; text: string }
  | { type: "message"; id: string | null; role: string }
  | { type: "thinking"; text: string }
  | { type: "call"; callId: string; name: string; input: unknown }
  | { type: "result"; callId: string; text: string }
  | { type: "files"; files: string[] }
  | { type: "usage"; response: string | null; tokens: Tokens }
  | { type: "count"; tokens: Tokens }
  | { type: "context"; model: string }
  | { type: "compaction"; text: string };

const HEAD = /^\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"([a-z_]+)","payload":\{(?:"type":"([a-z_]+)")?/;
const HEAD_BYTES = 440;
const SKIPPED = new Set(["world_state", "session_meta", "additional_tools", "thread_settings_applied"]);

/** Null where the line says nothing that counts here. */
export function readLine(bytes: Buffer, line: Line): RolloutLine | null {
  return isSkipped(bytes, line) ? null : toRolloutLine(parseLine(bytes, line));
}

/** Told without parsing. A line in another order of keys is parsed. */
function isSkipped(bytes: Buffer, line: Line): boolean {
  if (line.end - line.start < 2) return true;
  const head = bytes.toString("latin1", line.start, Math.min(line.end, line.start + HEAD_BYTES));
  const match = HEAD.exec(head);
  if (match === null) return false;
  if (SKIPPED.has(match[1] ?? "") || SKIPPED.has(match[2] ?? "")) return true;
  return match[2] === "item_completed" && head.includes('"item":{"type":"CommandExecution"');
}

export function toRolloutLine(value: unknown): RolloutLine | null {
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
    // Written before the user's hook is told, and the turn's own end after it.
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

/** Both names of a file that was moved. */
function changedFiles(changes: unknown): string[] {
  if (!isRecord(changes)) return [];
  const names = Object.entries(changes).flatMap(([path, change]) => [
    path,
    isRecord(change) ? text(change["move_path"]) : null,
  ]);
  return names.filter((name) => name !== null && name !== "" && !name.includes("\0")) as string[];
}

/** Of content in pieces; what is encrypted is nobody's to read. */
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
