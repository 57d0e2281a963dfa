/** Derives the whole conversation from the transcript's entries. */
import { blankEntry, type Conversation, type Entry } from "../../../model/conversation.ts";
import { INTERRUPTED_BY_USER, type TranscriptEntry, type TranscriptItem } from "./items.ts";
import { TokenCount } from "./token-count.ts";

export function conversationOf(entries: Iterable<TranscriptEntry>): Conversation {
  const conversation = new ConversationBuilder();
  for (const entry of entries) conversation.add(entry);
  return conversation.result();
}

class ConversationBuilder {
  readonly #entries: Entry[] = [];
  readonly #tokens = new TokenCount();
  /** Tool uses by id. */
  readonly #uses = new Map<string, Entry>();
  #title: { text: string | null; rank: number } | null = null;
  #model: string | null = null;

  add(entry: TranscriptEntry): void {
    for (const item of entry.items) {
      if (item.kind === "usage") this.#tokens.add(item);
      else if (item.kind === "title") this.#setTitle(item.text, item.rank ?? 0);
      else if (entry.scope === undefined) this.#addItem(item, entry);
    }
  }

  #addItem(item: TranscriptItem, at: TranscriptEntry): void {
    switch (item.kind) {
      case "prompt":
      case "answer":
      case "thinking":
      case "compaction":
        this.#entries.push({ ...blankEntry(at, at), type: item.kind, text: item.text });
        break;
      case "note":
        this.#entries.push({ ...blankEntry(at, at), text: item.text, files: [...(item.files ?? [])] });
        break;
      case "interrupted":
        this.#addInterruption(item.text, at);
        break;
      case "tool-use":
        this.#addUse(item, at);
        break;
      case "tool-result":
        this.#addResult(item, at);
        break;
      case "files":
        this.#useOf(item.toolUseId)?.files.push(...item.files);
        break;
      case "model":
        this.#model = item.model;
        break;
      default:
        break;
    }
  }

  result(): Conversation {
    return {
      entries: this.#entries,
      title: this.#title?.text ?? null,
      model: this.#model,
      tokens: this.#tokens.sum,
      ...(this.#tokens.isUnknown ? { tokensUnknown: true as const } : {}),
    };
  }

  #addUse(item: Extract<TranscriptItem, { kind: "tool-use" }>, at: TranscriptEntry): void {
    const { toolName, toolUseId, input } = item;
    const where = item.cwd === undefined ? {} : { cwd: item.cwd };
    const use = { toolName, toolUseId, toolInput: input, files: [...(item.files ?? [])], ...where };
    const entry: Entry = { ...blankEntry(at, at), type: "tool-use", ...use };
    if (toolUseId !== null) this.#uses.set(toolUseId, entry);
    this.#entries.push(entry);
  }

  #addResult(item: Extract<TranscriptItem, { kind: "tool-result" }>, at: TranscriptEntry): void {
    const { text, toolUseId } = item;
    const use = this.#useOf(toolUseId);
    const toolName = item.toolName ?? use?.toolName ?? null;
    if (use?.files.length === 0 && !item.failed) use.files.push(...(item.files ?? []));
    const failure = item.failed ? { failed: true as const } : {};
    this.#entries.push({ ...blankEntry(at, at), type: "tool-result", text, toolName, toolUseId, ...failure });
  }

  #useOf(toolUseId: string | null): Entry | undefined {
    return toolUseId === null ? undefined : this.#uses.get(toolUseId);
  }

  /** Agents may write an interruption twice: for the model, and as the end of the turn. */
  #addInterruption(text: string | null, at: TranscriptEntry): void {
    if (text === null) return;
    if (text === INTERRUPTED_BY_USER && this.#entries.at(-1)?.text === text) return;
    this.#entries.push({ ...blankEntry(at, at), text });
  }

  /** The last title with the lowest rank wins. */
  #setTitle(text: string | null, rank: number): void {
    if (text === null || (this.#title !== null && rank > this.#title.rank)) return;
    this.#title = { text: text || null, rank };
  }
}
