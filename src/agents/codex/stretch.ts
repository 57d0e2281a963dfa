/** Reads one stretch of a rollout: the new tail of a turn, never the whole file. */
import { asBuffer, endOfLines, readLines } from "../../transcripts/lines.ts";
import { blankStretch, type TranscriptStretch } from "../../transcripts/model.ts";
import { Chain } from "./chain.ts";
import { type RolloutLine, readLine } from "./lines.ts";
import { TokenCount } from "./usage.ts";

export function readStretch(bytes: Uint8Array, offset: number): TranscriptStretch {
  const buffer = asBuffer(bytes);
  const reader = new StretchReader(offset + endOfLines(buffer));
  for (const [line] of readLines(buffer, readLine)) reader.add(line);
  return reader.result();
}

class StretchReader {
  readonly #chain = new Chain();
  readonly #tokens = new TokenCount();
  readonly #files = new Set<string>();
  readonly #stretch: TranscriptStretch;

  constructor(end: number) {
    this.#stretch = blankStretch(end);
  }

  add({ id, content }: RolloutLine): void {
    this.#tokens.add(content);
    if (this.#chain.add(content)) this.#stretch.lastId = id ?? this.#stretch.lastId;
    switch (content.type) {
      case "prompt":
        this.#stretch.interrupted = false;
        if (content.text.trim() !== "") this.#stretch.prompts.push(content.text);
        break;
      case "answer":
        if (content.text !== "") this.#stretch.lastAnswer = content.text;
        break;
      case "files":
        for (const file of content.files) this.#files.add(file);
        break;
      case "context":
        this.#stretch.model = content.model;
        break;
      case "turn-end":
        this.#stretch.interrupted = content.interrupted;
        break;
      case "compaction":
        this.#stretch.compacted = true;
        break;
      default:
        break;
    }
  }

  result(): TranscriptStretch {
    return { ...this.#stretch, files: [...this.#files], tokens: this.#tokens.sum() };
  }
}
