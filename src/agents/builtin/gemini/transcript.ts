/**
 * Reads Gemini CLI's transcripts. Gemini CLI rewrites a message when it grows, and a compression rewrites the messages
 * that it keeps, so the reader replays all records before it yields entries.
 */

import { isRecord } from "../../../base/json.ts";
import type { Line } from "../../../transcripts/lines.ts";
import { textAt } from "../../registry/paths.ts";
import { CutPoints } from "../../shared/transcript/cut-points.ts";
import type { Scope, TranscriptEntry, TranscriptItem } from "../../shared/transcript/items.ts";
import { type GeminiRecord, type Message, readRecords, type ToolCall, textOf } from "./records.ts";

const SUMMARY = "<state_snapshot>";
const CONTEXT = "<session_context>";
const NOT_THE_USERS = [CONTEXT, "<hook_context>", SUMMARY];
/** Precedes the content of files that the prompt references with `@`. */
const REFERENCED = "--- Content from referenced files ---";
const CANCELLED = "Request cancelled.";

/** In a tail, skips lines that repeat all messages: after a resume, such a line repeats the whole conversation. */
export function* readEntries(bytes: Buffer, from = 0, isTail = false): Generator<TranscriptEntry> {
  const replay = new Replay(isTail);
  for (const [record, at] of readRecords(bytes, { from, withoutRepetitions: isTail })) replay.add(record, at);
  yield* replay.entries();
}

/** A message, or items about the whole session. */
interface Slot {
  content: Message | TranscriptItem[];
  at: Line;
  scope?: Scope;
}

class Replay {
  readonly #isTail: boolean;
  readonly #slots: Slot[] = [];
  /** The conversation's current messages. A rewritten message keeps its position. */
  readonly #messages = new Map<string, Slot>();
  /** The messages that a running compression has rewritten so far; null outside of a compression. */
  #repeated: Slot[] | null = null;
  #isSubagent = false;
  #isDocument = false;

  constructor(isTail: boolean) {
    this.#isTail = isTail;
  }

  add(record: GeminiRecord, at: Line): void {
    switch (record.kind) {
      case "message":
        this.#addMessage(record.message, at);
        break;
      case "rewind":
        this.#rewind(record.id);
        break;
      case "repetition":
        this.#endRepetition();
        break;
      case "header":
        this.#isSubagent = record.fields["kind"] === "subagent";
        this.#isDocument = record.isDocument === true;
        this.#addFields(record.fields, at);
        break;
      case "set":
        this.#addFields(record.fields, at);
        if (record.messages && !this.#isTail) this.#replace(record.messages, at);
        break;
    }
  }

  *entries(): Generator<TranscriptEntry> {
    // The compression has not ended yet, so its answers repeat earlier ones.
    if (this.#isTail) markRepeated((this.#repeated ?? []).filter(({ content }) => isAnswer(content)));
    const cuts = new CutPoints();
    const reader = new MessageItems();
    for (const { content, at, scope } of this.#slots) {
      const message = Array.isArray(content) ? null : content;
      const items = Array.isArray(content) ? content : reader.of(content);
      const cuttable = message !== null && scope !== "rewound" && canCutAfter(message, cuts, this.#isDocument);
      const { id = null, time = null } = message ?? {};
      yield { id, time, start: at.start, end: at.end, items, cuttable, scope };
    }
  }

  #addMessage(message: Message, at: Line): void {
    if (hasContext(message)) this.#repeated = [];
    let slot = this.#messages.get(message.id);
    if (slot) {
      slot.content = message;
      slot.at = at;
    } else {
      slot = { content: message, at };
      this.#slots.push(slot);
      this.#messages.set(message.id, slot);
    }
    this.#repeated?.push(slot);
  }

  /** Adds a title or, for a subagent, its report. */
  #addFields(fields: Record<string, unknown>, at: Line): void {
    const summary = fields["summary"];
    if (typeof summary !== "string" || summary === "") return;
    const items: TranscriptItem[] = [{ kind: "title", text: summary }];
    if (this.#isSubagent) items.push({ kind: "report", text: reportIn(summary) });
    this.#slots.push({ content: items, at });
  }

  /** Rewound messages still count as usage, but the conversation can't continue from them. */
  #rewind(id: string): void {
    const ids = [...this.#messages.keys()];
    for (const gone of ids.slice(Math.max(0, ids.indexOf(id)))) {
      const slot = this.#messages.get(gone);
      if (slot) slot.scope = "rewound";
      this.#messages.delete(gone);
    }
  }

  /**
   * Replaces all messages at once. Known messages add nothing and have less detail. Messages that a compression drops
   * remain part of the history.
   */
  #replace(messages: readonly Message[], at: Line): void {
    this.#endRepetition();
    const summary = messages.findLast(isSummary);
    for (const message of summary ? [summary] : messages) {
      if (!this.#messages.has(message.id)) this.#addMessage(message, at);
    }
    this.#repeated = null;
  }

  /** A compression rewrites the messages that it keeps, under new ids, and then writes all messages in one line. */
  #endRepetition(): void {
    const repeated = this.#repeated ?? [];
    markRepeated(repeated);
    this.#repeated = null;
    if (this.#isTail) return;
    for (const [id, slot] of this.#messages) if (repeated.includes(slot)) this.#messages.delete(id);
  }
}

function markRepeated(slots: readonly Slot[]): void {
  for (const slot of slots) slot.scope = "repeated";
}

function isAnswer(content: Slot["content"]): boolean {
  return !Array.isArray(content) && content.type === "gemini";
}

/** Statuses of a call that is not over. */
const RUNNING = ["validating", "scheduled", "executing", "awaiting_approval"];

/** Whether every call has its result, in the call itself or in a separate message, or is over without one. */
export function canCutAfter(message: Message, cuts: CutPoints, isDocument = false): boolean {
  for (const part of message.parts) {
    if (part.type === "call") cuts.open(part.id);
    if (part.type === "response") cuts.close(part.id);
  }
  for (const call of message.toolCalls) {
    const isOver = call.result !== null || (isDocument && !RUNNING.includes(call.status));
    if (!isOver) cuts.open(call.id);
    else cuts.close(call.id);
  }
  // The user wrote after an open call, so Gemini CLI itself gave up on the result.
  if (writtenByUser(message) !== null) cuts.clear();
  return cuts.canCut;
}

/** Converts messages to items. Gemini CLI writes a result twice: with the call and as a separate message. */
class MessageItems {
  readonly #answered = new Set<string>();
  readonly #toolNames = new Map<string, string>();

  of(message: Message): TranscriptItem[] {
    if (message.type === "user") return this.#userItems(message);
    if (message.type === "gemini") return this.#answerItems(message);
    const text = textOf(message);
    if (isInterruption(message)) return [{ kind: "interrupted", text }];
    return text === "" ? [] : [{ kind: "note", text }];
  }

  #userItems(message: Message): TranscriptItem[] {
    if (isSummary(message)) return [{ kind: "compaction", text: summaryIn(message) }];
    const prompt = writtenByUser(message);
    if (prompt !== null) return [{ kind: "prompt", text: prompt }];
    return message.parts.flatMap((part): TranscriptItem[] => {
      if (part.type !== "response" || this.#answered.has(part.id)) return [];
      this.#answered.add(part.id);
      const toolName = this.#toolNames.get(part.id) ?? null;
      return [{ kind: "tool-result", toolUseId: part.id, toolName, text: part.text }];
    });
  }

  #answerItems({ id, tokens, model, thoughts, parts, toolCalls }: Message): TranscriptItem[] {
    const items: TranscriptItem[] = [{ kind: "usage", tokens, key: id }];
    if (model !== null) items.push({ kind: "model", model });
    for (const text of thoughts) items.push({ kind: "thinking", text });
    const listed = new Set(toolCalls.map((call) => call.id));
    for (const part of parts) {
      if (part.type === "text" && part.text !== "") items.push({ kind: "answer", text: part.text });
      if (part.type === "thought") items.push({ kind: "thinking", text: part.text });
      if (part.type !== "call" || listed.has(part.id)) continue;
      this.#toolNames.set(part.id, part.name);
      items.push({ kind: "tool-use", toolUseId: part.id, toolName: part.name, input: part.input });
    }
    for (const call of toolCalls) items.push(...this.#callItems(call));
    return items;
  }

  #callItems(call: ToolCall): TranscriptItem[] {
    const { id: toolUseId, name: toolName, input, result } = call;
    const items: TranscriptItem[] = [{ kind: "tool-use", toolUseId, toolName, input }];
    this.#toolNames.set(toolUseId, toolName);
    const path = writtenPath(call);
    if (path !== null) items.push({ kind: "files", files: [path], toolUseId });
    if (result === null) return items;
    this.#answered.add(toolUseId);
    return [...items, { kind: "tool-result", toolUseId, toolName, text: result }];
  }
}

/** The prompt as the user would recognize it; null if the user wrote nothing. */
export function promptText(text: string): string | null {
  const at = text.indexOf(REFERENCED);
  const words = (at < 0 ? text : text.slice(0, at)).trim();
  return words === "" ? null : words;
}

/** Whether the message starts with the environment context that Gemini CLI writes for the model at every start. */
export function hasContext(message: Message): boolean {
  const first = message.parts[0];
  return message.type === "user" && first?.type === "text" && isContext(first.text);
}

export function isContext(text: string): boolean {
  return text.trimStart().startsWith(CONTEXT);
}

/** The user's text in a message; null for tool results and for text that Gemini CLI writes under the user's role. */
function writtenByUser(message: Message): string | null {
  if (message.type !== "user" || isSummary(message)) return null;
  if (message.typed !== null) return promptText(message.typed);
  const own = message.parts.filter((part) => part.type === "text" && !isMachine(part.text));
  return promptText(own.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
}

/** Whether the message is the model's summary that a compression leaves of the conversation. */
function isSummary(message: Message): boolean {
  if (message.type !== "user") return false;
  return message.parts.some((part) => part.type === "text" && part.text.trimStart().startsWith(SUMMARY));
}

function summaryIn(message: Message): string {
  return textOf({ ...message, parts: message.parts.filter((part) => part.type !== "text" || !isContext(part.text)) });
}

/** Whether the user interrupted the turn. */
function isInterruption(message: Message): boolean {
  const [first] = message.parts;
  return message.type === "info" && first?.type === "text" && first.text === CANCELLED;
}

function isMachine(text: string): boolean {
  const start = text.trimStart();
  return NOT_THE_USERS.some((beginning) => start.startsWith(beginning));
}

/** A subagent's summary is its report: a text, or an object that contains one. */
function reportIn(summary: string): string {
  try {
    return textAt(JSON.parse(summary), ["$.response", "$.result"]) ?? summary;
  } catch {
    return summary;
  }
}

/** Null if the call wrote nothing: another tool, a failure, a refusal. */
function writtenPath({ name, status, displayedPath, input }: ToolCall): string | null {
  if (name !== "write_file" && name !== "replace") return null;
  if (status === "error" || status === "cancelled") return null;
  // The input's path may be relative to the working directory.
  return usablePath(displayedPath) ?? (isRecord(input) ? usablePath(input["file_path"]) : null);
}

function usablePath(value: unknown): string | null {
  return typeof value === "string" && value !== "" && !value.includes("\0") ? value : null;
}
