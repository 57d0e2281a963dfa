/** Reads one stretch of a transcript: the new tail of a turn, never the whole file. */
import { asBuffer, completeLines, endOfLines, type Line } from "../../transcripts/lines.ts";
import { sumOfTokens, type Tokens, type TranscriptStretch } from "../../transcripts/model.ts";
import { textAt } from "../paths.ts";
import { writtenPath } from "./files.ts";
import { PendingCalls } from "./pending.ts";
import { hasContext, isInterruption, isSummary, writtenByUser } from "./prompts.ts";
import { type GeminiRecord, holdsAllMessages, isBookkeeping, type Message, readRecord, textOf } from "./records.ts";

const SUMMARY = Buffer.from("<state_snapshot>");

export function readStretch(bytes: Uint8Array, offset: number): TranscriptStretch {
  const buffer = asBuffer(bytes);
  const reader = new StretchReader();
  for (const line of completeLines(buffer)) {
    if (!isBookkeeping(buffer, line)) reader.add(buffer, line);
  }
  return { ...reader.result(), end: offset + endOfLines(buffer) };
}

class StretchReader {
  /** By message, since a message is written again when its tools are done; the last one counts. */
  readonly #prompts = new Map<string, string>();
  readonly #tokens = new Map<string, Tokens>();
  readonly #files = new Map<string, string[]>();
  /** Messages in their order, and whether the conversation is whole behind each. */
  readonly #whole = new Map<string, boolean>();
  readonly #pending = new PendingCalls();
  /** Prompts written down once more by a compression in the middle of a turn; null outside of one. */
  #repeated: string[] | null = null;
  #model: string | null = null;
  #answer: string | null = null;
  #subagent = false;
  #interrupted = false;
  #compacted = false;

  add(buffer: Buffer, at: Line): void {
    if (holdsAllMessages(buffer, at)) {
      this.#endRepetition();
      // What it says anew was said before. At a resume that is everything, so it is parsed only for a summary.
      if (buffer.subarray(at.start, at.end).indexOf(SUMMARY) < 0) return;
    }
    const record = readRecord(buffer, at);
    if (record) this.#take(record);
  }

  result(): Omit<TranscriptStretch, "end"> {
    return {
      lastId: [...this.#whole].findLast(([, whole]) => whole)?.[0] ?? null,
      prompts: [...this.#prompts.values()],
      files: [...new Set([...this.#files.values()].flat())],
      tokens: sumOfTokens(this.#tokens.values()),
      model: this.#model,
      lastAnswer: this.#answer,
      interrupted: this.#interrupted,
      compacted: this.#compacted,
    };
  }

  #take(record: GeminiRecord): void {
    if (record.kind === "message") this.#addMessage(record.message);
    else if (record.kind === "rewind") this.#rewind(record.id);
    else if (record.kind === "header") this.#subagent = record.fields["kind"] === "subagent";
    else {
      if (record.messages?.some(isSummary)) this.#compacted = true;
      if (this.#subagent) this.#answer = reportIn(record.fields) ?? this.#answer;
    }
  }

  #addMessage(message: Message): void {
    this.#whole.set(message.id, this.#pending.add(message));
    if (message.type === "gemini") this.#addAnswer(message);
    if (hasContext(message)) this.#repeated = [];
    if (isInterruption(message)) this.#interrupted = true;
    const prompt = writtenByUser(message);
    if (prompt === null) return;
    this.#interrupted = false;
    this.#prompts.set(message.id, prompt);
    this.#repeated?.push(message.id);
  }

  #addAnswer(message: Message): void {
    if (message.tokens) this.#tokens.set(message.id, message.tokens);
    this.#model = message.model ?? this.#model;
    const files = message.toolCalls.flatMap((call) => writtenPath(call) ?? []);
    if (files.length > 0) this.#files.set(message.id, files);
    const text = textOf(message);
    if (text.trim() !== "" && this.#repeated === null) this.#answer = text;
  }

  /** A compression writes the messages that it keeps once more, under new ids, and then all messages in a row. */
  #endRepetition(): void {
    for (const id of this.#repeated ?? []) this.#prompts.delete(id);
    this.#repeated = null;
  }

  /** What was taken back was said and paid for, but can't be gone on from. */
  #rewind(id: string): void {
    const ids = [...this.#whole.keys()];
    for (const gone of ids.slice(Math.max(0, ids.indexOf(id)))) this.#whole.delete(gone);
  }
}

/** A subagent's session is summed up with what it reports: a text, or an object that holds one. */
function reportIn(fields: Record<string, unknown>): string | null {
  const summary = fields["summary"];
  if (typeof summary !== "string" || summary === "") return null;
  try {
    return textAt(JSON.parse(summary), ["$.response", "$.result"]) ?? summary;
  } catch {
    return summary;
  }
}
