/** A whole transcript as a conversation, for those who read it: `show`, the picker, a hand-over. */
import { asBuffer, completeLines, type Line } from "../../transcripts/lines.ts";
import { blankEntry, type Conversation, type Entry, sumOfTokens, type Tokens } from "../../transcripts/model.ts";
import { writtenPath } from "./files.ts";
import { hasContext, isContext, isSummary, writtenByUser } from "./prompts.ts";
import { isBookkeeping, type Message, readRecord, type ToolCall, textOf } from "./records.ts";

export function readConversation(bytes: Uint8Array): Conversation {
  const buffer = asBuffer(bytes);
  const reader = new ConversationReader();
  for (const at of completeLines(buffer)) {
    const record = isBookkeeping(buffer, at) ? null : readRecord(buffer, at);
    if (record === null) continue;
    if (record.kind === "message") reader.add(record.message, at);
    else if (record.kind === "rewind") reader.rewind(record.id);
    else {
      reader.title = titleIn(record.fields) ?? reader.title;
      if (record.kind === "set" && record.messages) reader.replace(record.messages, at);
    }
  }
  return reader.result();
}

class ConversationReader {
  title: string | null = null;
  /** By message: one that is written again stays in its place. */
  readonly #entries = new Map<string, Entry[]>();
  readonly #tokens = new Map<string, Tokens>();
  /** Results that are known from the call itself; they are written a second time as a message. */
  readonly #answered = new Set<string>();
  readonly #toolNames = new Map<string, string>();
  /** The messages since a compression began to write down anew what it keeps. */
  #repeated: string[] | null = null;
  #model: string | null = null;

  add(message: Message, at: Line): void {
    if (hasContext(message)) this.#repeated = [];
    this.#repeated?.push(message.id);
    if (message.tokens) this.#tokens.set(message.id, message.tokens);
    this.#model = message.model ?? this.#model;
    this.#entries.set(message.id, this.#entriesOf(message, at));
  }

  /**
   * All messages anew. Those that are known say nothing new, and say it with less; what a compression leaves out was
   * said all the same.
   */
  replace(messages: readonly Message[], at: Line): void {
    for (const id of this.#repeated ?? []) this.#entries.delete(id);
    this.#repeated = null;
    const summary = messages.findLast(isSummary);
    if (summary && !this.#entries.has(summary.id)) this.#entries.set(summary.id, this.#entriesOf(summary, at));
    if (summary) return;
    for (const message of messages) if (!this.#entries.has(message.id)) this.add(message, at);
    this.#repeated = null;
  }

  rewind(id: string): void {
    const ids = [...this.#entries.keys()];
    for (const gone of ids.slice(Math.max(0, ids.indexOf(id)))) this.#entries.delete(gone);
  }

  result(): Conversation {
    return {
      entries: [...this.#entries.values()].flat(),
      title: this.title,
      model: this.#model,
      tokens: sumOfTokens(this.#tokens.values()),
    };
  }

  #entriesOf(message: Message, at: Line): Entry[] {
    const blank = blankEntry(message, at);
    if (message.type === "user") return this.#userEntries(message, blank);
    if (message.type === "gemini") return this.#answerEntries(message, blank);
    const text = textOf(message);
    return text === "" ? [] : [{ ...blank, text }];
  }

  #userEntries(message: Message, blank: Entry): Entry[] {
    if (isSummary(message)) return [{ ...blank, type: "compaction", text: summaryIn(message) }];
    const prompt = writtenByUser(message);
    if (prompt !== null) return [{ ...blank, type: "prompt", text: prompt }];
    return message.parts.flatMap((part) => {
      if (part.type !== "response" || this.#answered.has(part.id)) return [];
      this.#answered.add(part.id);
      const toolName = this.#toolNames.get(part.id) ?? null;
      return [{ ...blank, type: "tool-result" as const, text: part.text, toolName, toolUseId: part.id }];
    });
  }

  #answerEntries(message: Message, blank: Entry): Entry[] {
    const entries: Entry[] = message.thoughts.map((text) => ({ ...blank, type: "thinking", text }));
    const listed = new Set(message.toolCalls.map((call) => call.id));
    for (const part of message.parts) {
      if (part.type === "text" && part.text !== "") entries.push({ ...blank, type: "answer", text: part.text });
      if (part.type === "thought") entries.push({ ...blank, type: "thinking", text: part.text });
      if (part.type !== "call" || listed.has(part.id)) continue;
      this.#toolNames.set(part.id, part.name);
      entries.push({ ...blank, type: "tool-use", toolName: part.name, toolUseId: part.id, toolInput: part.input });
    }
    return [...entries, ...message.toolCalls.flatMap((call) => this.#callEntries(call, blank))];
  }

  #callEntries(call: ToolCall, blank: Entry): Entry[] {
    const path = writtenPath(call);
    const about = { ...blank, toolName: call.name, toolUseId: call.id };
    const files = path === null ? [] : [path];
    const use: Entry = { ...about, type: "tool-use", toolInput: call.input, files };
    this.#toolNames.set(call.id, call.name);
    if (call.result === null) return [use];
    this.#answered.add(call.id);
    return [use, { ...about, type: "tool-result", text: call.result }];
  }
}

function summaryIn(message: Message): string {
  return textOf({ ...message, parts: message.parts.filter((part) => part.type !== "text" || !isContext(part.text)) });
}

function titleIn(fields: Record<string, unknown>): string | null {
  const summary = fields["summary"];
  return typeof summary === "string" && summary !== "" ? summary : null;
}
