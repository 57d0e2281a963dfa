/** Reads one stretch of a transcript: the new tail of a turn, never the whole file. */
import { asBuffer, completeLines, endOfLines, type Line } from "../../transcripts/lines.ts";
import { sumOfTokens, type Tokens, type TranscriptStretch } from "../../transcripts/model.ts";
import { textOf } from "../content-blocks.ts";
import { WrittenFiles } from "../written-files.ts";
import { Chain, isPrompt } from "./chain.ts";
import { addFiles } from "./files.ts";
import { type ChainLine, leadingAttachment, mayBeChain, readChainLine } from "./lines.ts";
import { isInterruption, writtenByUser } from "./prompts.ts";

export function readStretch(bytes: Uint8Array, offset: number): TranscriptStretch {
  const buffer = asBuffer(bytes);
  const reader = new StretchReader();
  for (const line of completeLines(buffer)) {
    if (mayBeChain(buffer, line)) reader.add(buffer, line);
  }
  return { ...reader.result(), end: offset + endOfLines(buffer) };
}

class StretchReader {
  readonly #chain = new Chain();
  readonly #files = new WrittenFiles();
  readonly #tokens = new Map<string, Tokens>();
  readonly #prompts: string[] = [];
  /** A subagent's own file holds nothing but side chains; there they are the conversation. */
  #sidechain: boolean | null = null;
  /** The last line behind which the conversation is whole, and an attachment behind it, still unread. */
  #lastWhole: string | null = null;
  #attachment: { buffer: Buffer; at: Line } | null = null;
  #model: string | null = null;
  #answer: { id: string | null; text: string } | null = null;
  #interrupted = false;
  #compacted = false;

  add(buffer: Buffer, at: Line): void {
    const attachment = leadingAttachment(buffer, at);
    if (attachment) {
      this.#sidechain ??= attachment.sidechain;
      if (attachment.sidechain === this.#sidechain && this.#chain.isWhole) this.#attachment = { buffer, at };
      return;
    }
    const line = readChainLine(buffer, at);
    if (line === null) return;
    addFiles(this.#files, line);
    this.#countTokens(line);
    this.#sidechain ??= line.sidechain;
    if (line.sidechain !== this.#sidechain) return;
    if (line.compaction) this.#compacted = true;
    if (this.#chain.add(line)) {
      this.#lastWhole = line.uuid;
      this.#attachment = null;
    }
    if (line.type === "user") this.#addUser(line);
    if (line.type === "assistant") this.#addAnswer(line);
  }

  result(): Omit<TranscriptStretch, "end"> {
    return {
      lastId: this.#lastId(),
      prompts: this.#prompts,
      files: this.#files.list(),
      tokens: sumOfTokens(this.#tokens.values()),
      model: this.#model,
      lastAnswer: this.#answer?.text ?? null,
      interrupted: this.#interrupted,
      compacted: this.#compacted,
    };
  }

  #lastId(): string | null {
    const attachment = this.#attachment && readChainLine(this.#attachment.buffer, this.#attachment.at);
    return attachment?.uuid ?? this.#lastWhole;
  }

  /** Every line of a message repeats the whole message's usage, so the last one counts for all of them. */
  #countTokens(line: ChainLine): void {
    if (line.tokens) this.#tokens.set(line.messageId ?? line.uuid, line.tokens);
  }

  #addUser(line: ChainLine): void {
    if (!isPrompt(line) || line.compaction) return;
    const text = textOf(line.blocks);
    this.#interrupted = isInterruption(text);
    const prompt = writtenByUser(text);
    if (prompt !== null) this.#prompts.push(prompt);
  }

  #addAnswer(line: ChainLine): void {
    this.#model = line.model ?? this.#model;
    const text = textOf(line.blocks);
    if (text === "") return;
    const sameMessage = this.#answer !== null && line.messageId !== null && this.#answer.id === line.messageId;
    this.#answer = { id: line.messageId, text: sameMessage ? `${this.#answer?.text}\n${text}` : text };
  }
}
