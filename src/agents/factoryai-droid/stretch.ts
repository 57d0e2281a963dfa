/** Reads one stretch of a transcript: the new tail of a turn, never the whole file. */
import { asBuffer, endOfLines, readLines } from "../../transcripts/lines.ts";
import { blankStretch, type TranscriptStretch } from "../../transcripts/model.ts";
import { textOf } from "../content-blocks.ts";
import { WrittenFiles } from "../written-files.ts";
import { Chain } from "./chain.ts";
import { addFiles } from "./files.ts";
import { type DroidLine, type MessageLine, promptOf, readLine } from "./lines.ts";

/** What Droid tells the model about a turn that the user broke off. */
const INTERRUPTION = /^Request (?:interrupted|cancelled) by user/;
const CANCELLED_TOOL = "Error: Tool execution cancelled by user";

export function readStretch(bytes: Uint8Array, offset: number): TranscriptStretch {
  const buffer = asBuffer(bytes);
  const reader = new StretchReader(offset + endOfLines(buffer));
  for (const [line] of readLines(buffer, readLine)) reader.add(line);
  return reader.result();
}

class StretchReader {
  readonly #chain = new Chain();
  readonly #files = new WrittenFiles();
  readonly #stretch: TranscriptStretch;

  constructor(end: number) {
    this.#stretch = blankStretch(end);
  }

  add(line: DroidLine): void {
    const isWhole = this.#chain.add(line);
    if (line.type === "compaction") this.#stretch.compacted = true;
    if (line.type === "outcome") this.#stretch.interrupted ||= line.reason === "cancelled";
    if (line.type !== "message") return;
    if (isWhole && line.audience !== "user") this.#stretch.lastId = line.id;
    addFiles(this.#files, line);
    if (line.role === "assistant") this.#addAnswer(line);
    else this.#addUser(line);
  }

  /** Tokens are kept for the whole session in a file beside the transcript, never by message. */
  result(): TranscriptStretch {
    return { ...this.#stretch, files: this.#files.list() };
  }

  #addUser(line: MessageLine): void {
    const prompt = promptOf(line);
    if (prompt !== null) {
      this.#stretch.prompts.push(prompt);
      this.#stretch.interrupted = false;
    } else if (line.audience === "user" && textOf(line.blocks) !== "") {
      // An error that ended the turn: no model has anything of it.
      this.#stretch.interrupted = true;
    } else if (isInterruption(line)) this.#stretch.interrupted = true;
  }

  #addAnswer(line: MessageLine): void {
    this.#stretch.interrupted = false;
    this.#stretch.model = line.model ?? this.#stretch.model;
    const text = textOf(line.blocks);
    if (text !== "") this.#stretch.lastAnswer = text;
  }
}

export function isInterruption(line: MessageLine): boolean {
  if (line.audience === "model" && INTERRUPTION.test(textOf(line.blocks))) return true;
  return line.blocks.some((block) => block.type === "tool_result" && block.error && block.text === CANCELLED_TOOL);
}
