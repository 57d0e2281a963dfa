/** Reads one stretch of a transcript: the new tail of a turn, never the whole file. */
import { asBuffer, endOfLines, readLines } from "../../transcripts/lines.ts";
import { addTokens, blankStretch, type TranscriptStretch } from "../../transcripts/model.ts";
import { Chain } from "./chain.ts";
import { type CopilotLine, readLine } from "./lines.ts";

export function readStretch(bytes: Uint8Array, offset: number): TranscriptStretch {
  const buffer = asBuffer(bytes);
  const reader = new StretchReader(offset + endOfLines(buffer));
  for (const [line] of readLines(buffer, readLine)) reader.add(line);
  return reader.result();
}

class StretchReader {
  readonly #chain = new Chain();
  readonly #files = new Set<string>();
  readonly #stretch: TranscriptStretch;

  constructor(end: number) {
    this.#stretch = blankStretch(end);
  }

  /** What subagents use and write is the turn's as well; what they say is not. */
  add(line: CopilotLine): void {
    const { content } = line;
    if (this.#chain.add(line)) this.#stretch.lastId = line.id ?? this.#stretch.lastId;
    if (content.type === "usage") this.#stretch.tokens = addTokens(this.#stretch.tokens, content.tokens);
    if (content.type === "result") for (const file of content.success ? content.files : []) this.#files.add(file);
    if (line.agent !== null) return;
    switch (content.type) {
      case "start":
        this.#stretch.model = content.model ?? this.#stretch.model;
        break;
      case "prompt":
        this.#stretch.prompts.push(content.text);
        this.#stretch.interrupted = false;
        break;
      case "answer":
        this.#stretch.interrupted = false;
        this.#stretch.model = content.model ?? this.#stretch.model;
        if (content.text !== "") this.#stretch.lastAnswer = content.text;
        break;
      case "broken-off":
        this.#stretch.interrupted = true;
        break;
      case "compaction":
        this.#stretch.compacted = true;
        break;
      default:
        break;
    }
  }

  result(): TranscriptStretch {
    return { ...this.#stretch, files: [...this.#files] };
  }
}
