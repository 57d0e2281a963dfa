/**
 * Reads Claude Code's transcript. Lines of the conversation (user, assistant, attachment, system) have a `uuid`. All
 * other lines are bookkeeping, which the reader recognizes by the first bytes and skips.
 */

import { isRecord } from "../../../base/json.ts";
import { type Tokens, tokenCount } from "../../../model/tokens.ts";
import { completeLines, type Line, parseLine } from "../../../transcripts/lines.ts";
import { type Block, blocksOf, textOf } from "../../shared/content-blocks.ts";
import { CutPoints } from "../../shared/transcript/cut-points.ts";
import { INTERRUPTED_BY_USER, type TranscriptEntry, type TranscriptItem } from "../../shared/transcript/items.ts";

type MessageType = "user" | "assistant" | "attachment" | "system";

/** The fields we read from a line of the conversation. A missing or mistyped field is null or empty. */
export interface MessageLine {
  type: MessageType;
  uuid: string;
  time: string | null;
  /** A subagent's line, in a separate file or, in older versions, in the session's transcript. */
  sidechain: boolean;
  /** Not shown as the user's message: caveats, companions of commands. */
  meta: boolean;
  compaction: boolean;
  messageId: string | null;
  model: string | null;
  stopReason: string | null;
  tokens: Tokens | null;
  blocks: Block[];
  toolUseResult: unknown;
  cwd: string | null;
}

export function readEntries(bytes: Buffer, from = 0): Generator<TranscriptEntry> {
  return readChain(bytes, from, null);
}

/**
 * `sidechain` selects the lines that form the conversation. A subagent's file contains only side chains, so if
 * `sidechain` is null, the first line decides.
 */
export function* readChain(bytes: Buffer, from: number, sidechain: boolean | null): Generator<TranscriptEntry> {
  const cuts = new CutPoints();
  let own = sidechain;
  for (const at of completeLines(bytes, from)) {
    if (at.end - at.start < 2) continue;
    const type = leadingType(bytes, at);
    if (type !== null && !isMessageType(type)) {
      const title = titleAt(bytes, at, type);
      if (title) yield title;
      continue;
    }
    const attachment = leadingAttachment(bytes, at);
    if (attachment) {
      own ??= attachment.sidechain;
      if (attachment.sidechain === own && cuts.canCut) yield new Attachment(bytes, at);
      continue;
    }
    const line = readMessage(bytes, at);
    if (line === null) continue;
    own ??= line.sidechain;
    const items = itemsOf(line);
    const isOwn = line.sidechain === own;
    const cuttable = isOwn && canCutAfter(line, items, cuts);
    const scope = isOwn ? undefined : "subagent";
    yield { id: line.uuid, time: line.time, start: at.start, end: at.end, items, cuttable, scope };
  }
}

/** A user's line that is not a tool's result. */
export function isPrompt(line: MessageLine): boolean {
  return line.type === "user" && !line.meta && !line.blocks.some((block) => block.type === "tool_result");
}

function canCutAfter(line: MessageLine, items: readonly TranscriptItem[], cuts: CutPoints): boolean {
  if (line.type === "assistant") {
    if (isUnfinished(line)) cuts.open("message");
    else cuts.close("message");
  }
  // The user wrote after an open tool use, so Claude Code itself gave up on the result.
  if (isPrompt(line)) cuts.clear();
  return cuts.add(items);
}

/** Claude Code writes one line per block, so a message that stops for a tool is incomplete until its tool use. */
function isUnfinished({ stopReason, messageId, blocks }: MessageLine): boolean {
  return stopReason === "tool_use" && messageId !== null && !blocks.some((block) => block.type === "tool_use");
}

function itemsOf(line: MessageLine): TranscriptItem[] {
  if (line.compaction) return [{ kind: "compaction", text: textOf(line.blocks) }];
  if (isPrompt(line)) return [userItem(textOf(line.blocks))];
  const items: TranscriptItem[] = [];
  // Every line of a message repeats the usage of the whole message.
  if (line.tokens) items.push({ kind: "usage", tokens: line.tokens, key: line.messageId ?? line.uuid });
  if (line.model !== null) items.push({ kind: "model", model: line.model });
  for (const block of line.blocks) items.push(...blockItems(line, block));
  return items;
}

function userItem(text: string): TranscriptItem {
  if (isInterruption(text)) return { kind: "interrupted", text: INTERRUPTED_BY_USER };
  const prompt = writtenByUser(text);
  return prompt === null ? { kind: "note", text } : { kind: "prompt", text: prompt };
}

function blockItems(line: MessageLine, block: Block): TranscriptItem[] {
  const isShown = (line.type === "user" || line.type === "assistant") && !line.meta;
  switch (block.type) {
    case "text":
      if (!isShown) return [];
      return line.type === "assistant"
        ? [{ kind: "answer", text: block.text, message: line.messageId }]
        : [{ kind: "note", text: block.text }];
    case "thinking":
      return isShown ? [{ kind: "thinking", text: block.text }] : [];
    case "tool_use": {
      const path = writtenPath(block.name, block.input);
      const files = path === null ? [] : [path];
      const { id: toolUseId, name: toolName, input } = block;
      return [{ kind: "tool-use", toolUseId, toolName, input, files, ...(line.cwd !== null && { cwd: line.cwd }) }];
    }
    case "tool_result": {
      const path = reportedPath(line.toolUseResult);
      const { id, text, error } = block;
      return [{ kind: "tool-result", toolUseId: id, text, failed: error, files: path === null ? [] : [path] }];
    }
  }
}

/** Title fields by line type, highest priority first. */
const TITLE_FIELDS = new Map([
  ["custom-title", "customTitle"],
  ["ai-title", "aiTitle"],
  ["summary", "summary"],
]);
const TITLE_TYPES = [...TITLE_FIELDS.keys()];

/** Parses the line only when the title's text is read. */
function titleAt(bytes: Buffer, at: Line, type: string): TranscriptEntry | null {
  const field = TITLE_FIELDS.get(type);
  if (field === undefined) return null;
  const title = {
    kind: "title" as const,
    get text() {
      const value = parseLine(bytes, at);
      return (isRecord(value) && text(value[field])) || null;
    },
    rank: TITLE_TYPES.indexOf(type),
  };
  return { id: null, time: null, start: at.start, end: at.end, cuttable: false, items: [title] };
}

/** An attachment has no items. Its line is parsed only when its id is read. */
class Attachment implements TranscriptEntry {
  readonly time = null;
  readonly cuttable = true;
  readonly items = [];
  readonly start: number;
  readonly end: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, { start, end }: Line) {
    this.#bytes = bytes;
    this.start = start;
    this.end = end;
  }

  get id(): string | null {
    return readMessage(this.#bytes, this)?.uuid ?? null;
  }
}

const TYPE_PREFIX = '{"type":"';

/**
 * The type of a line that starts with its type, without parsing the line; null if another key comes first, as in
 * messages of the conversation.
 */
function leadingType(bytes: Buffer, line: Line): string | null {
  const head = bytes.toString("latin1", line.start, Math.min(line.end, line.start + 60));
  if (!head.startsWith(TYPE_PREFIX)) return null;
  const end = head.indexOf('"', TYPE_PREFIX.length);
  return end < 0 ? null : head.slice(TYPE_PREFIX.length, end);
}

const ATTACHMENT = /^\{"parentUuid":(?:null|"[^"]*"),"isSidechain":(true|false),"attachment":/;

/**
 * Recognizes an attachment without parsing it: attachments make up most of a transcript's bytes and do not report what
 * happened. Null if the line is not an attachment or orders its keys differently.
 */
function leadingAttachment(bytes: Buffer, line: Line): { sidechain: boolean } | null {
  const head = bytes.toString("latin1", line.start, Math.min(line.end, line.start + 120));
  const match = ATTACHMENT.exec(head);
  return match === null ? null : { sidechain: match[1] === "true" };
}

/** Whether the line can belong to the conversation, judged by its first bytes. */
export function mayBeMessage(bytes: Buffer, line: Line): boolean {
  if (line.end - line.start < 2) return false;
  const type = leadingType(bytes, line);
  return type === null || isMessageType(type);
}

export function readMessage(bytes: Buffer, line: Line): MessageLine | null {
  return toMessage(parseLine(bytes, line));
}

export function toMessage(value: unknown): MessageLine | null {
  if (!isRecord(value) || !isMessageType(value["type"]) || typeof value["uuid"] !== "string") return null;
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
    cwd: text(value["cwd"]),
  };
}

function isMessageType(type: unknown): type is MessageType {
  return type === "user" || type === "assistant" || type === "attachment" || type === "system";
}

/** Errors and refusals written by Claude Code itself have the model "<synthetic>". */
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

/** The file named in the input of a writing tool. */
function writtenPath(tool: string, input: unknown): string | null {
  if (!isRecord(input)) return null;
  switch (tool) {
    case "Write":
    case "Edit":
    case "MultiEdit":
      return path(input["file_path"]);
    case "NotebookEdit":
      return path(input["notebook_path"]);
    default:
      return null;
  }
}

/** The file named in a result. Only writing tools report a patch or an updated file. */
function reportedPath(result: unknown): string | null {
  if (!isRecord(result)) return null;
  if ("structuredPatch" in result) return path(result["filePath"]);
  if ("updated_file" in result) return path(result["notebook_path"]);
  return null;
}

function path(value: unknown): string | null {
  return typeof value === "string" && value !== "" && !value.includes("\0") ? value : null;
}

/**
 * Claude Code writes much text under the user's role: output of local commands, notices of background tasks,
 * interruption markers, and slash commands in tags.
 */
const INTERRUPTIONS = ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];
/** A command that Claude Code runs itself starts with its name; a command that is a prompt starts with its message. */
const NOT_THE_USERS = [
  "<command-name>",
  "<local-command-",
  "<bash-stdout>",
  "<bash-stderr>",
  "<system-reminder>",
  "Caveat: ",
];

/** The prompt as the user would recognize it; null if the user wrote nothing. */
export function promptText(text: string): string | null {
  if (text.startsWith("<task-notification>")) {
    return `(background) ${tagged(text, "summary") ?? "a task finished"}`;
  }
  if (text.startsWith("<bash-input>")) return `! ${tagged(text, "bash-input") ?? ""}`;
  if (text.startsWith("<command-")) return commandText(text);
  return text.trim() === "" ? null : text;
}

/** The user's text in a line under the user's role; null if Claude Code wrote the line. */
function writtenByUser(text: string): string | null {
  if (text.startsWith("<task-notification>") || isInterruption(text)) return null;
  if (NOT_THE_USERS.some((beginning) => text.startsWith(beginning))) return null;
  return promptText(text);
}

function isInterruption(text: string): boolean {
  return INTERRUPTIONS.includes(text);
}

/** `/name arguments`, as the user typed it. */
function commandText(text: string): string | null {
  const name = tagged(text, "command-name");
  if (!name) return null;
  const given = tagged(text, "command-args");
  return given ? `${name} ${given}` : name;
}

function tagged(text: string, tag: string): string | null {
  const start = text.indexOf(`<${tag}>`);
  const end = text.indexOf(`</${tag}>`, start);
  if (start < 0 || end < 0) return null;
  return text.slice(start + tag.length + 2, end).trim() || null;
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
