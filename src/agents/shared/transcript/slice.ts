/** Derives the slice that a hook needs from the entries at the end of a transcript. */
import type { TranscriptSlice } from "../../../model/conversation.ts";
import { WrittenFiles } from "../written-files.ts";
import type { TranscriptEntry, TranscriptItem } from "./items.ts";
import { TokenCount } from "./token-count.ts";

/** `end` is the offset after the last complete line of the slice. */
export function sliceOf(entries: Iterable<TranscriptEntry>, end: number): TranscriptSlice {
  const slice = new SliceBuilder();
  for (const entry of entries) slice.add(entry);
  return slice.result(end);
}

interface Words {
  /** Texts of the same message, or of the same entry, belong together. */
  of: string | TranscriptEntry;
  text: string;
}

class SliceBuilder {
  readonly #files = new WrittenFiles();
  readonly #tokens = new TokenCount();
  readonly #prompts: Words[] = [];
  #answer: Words | null = null;
  #model: string | null = null;
  #interrupted = false;
  #lastId: string | null = null;
  /** An entry without items after `#lastId`. Reading its id may parse the line, so its id is read only at the end. */
  #lastWithoutItems: TranscriptEntry | null = null;

  add(entry: TranscriptEntry): void {
    if (entry.cuttable && entry.scope !== "rewound") this.#markCut(entry);
    const hasWords = entry.scope === undefined || entry.scope === "rewound";
    for (const item of entry.items) {
      this.#addWork(item);
      if (hasWords) this.#addWords(item, entry);
    }
  }

  result(end: number): TranscriptSlice {
    const { calls, usd } = this.#tokens;
    return {
      end,
      lastId: this.#lastWithoutItems?.id ?? this.#lastId,
      prompts: this.#prompts.map(({ text }) => text),
      files: this.#files.list(),
      tokens: this.#tokens.sum,
      ...(calls > 0 ? { apiCalls: calls } : {}),
      ...(usd === undefined ? {} : { usd }),
      ...(this.#tokens.isUnknown ? { tokensUnknown: true as const } : {}),
      model: this.#model,
      lastAnswer: this.#answer?.text ?? null,
      interrupted: this.#interrupted,
    };
  }

  #markCut(entry: TranscriptEntry): void {
    if (entry.items.length === 0) {
      this.#lastWithoutItems = entry;
      return;
    }
    this.#lastWithoutItems = null;
    this.#lastId = entry.id ?? this.#lastId;
  }

  /** Tokens and files of subagents count for the turn too. */
  #addWork(item: TranscriptItem): void {
    switch (item.kind) {
      case "tool-use":
        if (item.toolUseId === null) this.#files.add(item.files ?? []);
        else if (item.files?.length) this.#files.addUse(item.toolUseId, item.files);
        break;
      case "tool-result":
        if (item.toolUseId !== null) this.#files.addResult(item.toolUseId, item.failed === true, item.files);
        break;
      case "files":
      case "note":
        this.#files.add(item.files ?? []);
        break;
      case "usage":
        this.#tokens.add(item);
        break;
      default:
        break;
    }
  }

  #addWords(item: TranscriptItem, entry: TranscriptEntry): void {
    switch (item.kind) {
      case "prompt":
        this.#interrupted = false;
        if (!item.isCommand) this.#addPrompt({ of: entry, text: item.text });
        break;
      case "answer":
        this.#interrupted = false;
        if (item.text.trim() !== "")
          this.#answer = joined(this.#answer, { of: item.message ?? entry, text: item.text });
        break;
      case "thinking":
      case "tool-use":
      case "completed":
        this.#interrupted = false;
        break;
      case "interrupted":
        this.#interrupted = true;
        break;
      case "model":
        this.#model = item.model;
        break;
      case "report":
        this.#answer = { of: entry, text: item.text };
        break;
      default:
        break;
    }
  }

  #addPrompt(prompt: Words): void {
    if (prompt.text.trim() === "") return;
    const last = this.#prompts.at(-1);
    if (last?.of === prompt.of) this.#prompts.splice(-1, 1, joined(last, prompt));
    else this.#prompts.push(prompt);
  }
}

function joined(before: Words | null, words: Words): Words {
  return before?.of === words.of ? { ...words, text: `${before.text}\n${words.text}` } : words;
}
