/** A whole rollout as a conversation, for those who read it: `show`, the picker, a hand-over. */
import { asBuffer, type Line, readLines } from "../../transcripts/lines.ts";
import { blankEntry, type Conversation, type Entry } from "../../transcripts/model.ts";
import { type RolloutLine, readLine } from "./lines.ts";
import { TokenCount } from "./usage.ts";

export function readConversation(bytes: Uint8Array): Conversation {
  const buffer = asBuffer(bytes);
  const reader = new ConversationReader();
  for (const [line, at] of readLines(buffer, readLine)) reader.add(line, at);
  return reader.result();
}

class ConversationReader {
  readonly #entries: Entry[] = [];
  readonly #tokens = new TokenCount();
  readonly #calls = new Map<string, Entry>();
  #lastCall: Entry | null = null;
  #model: string | null = null;

  add(line: RolloutLine, at: Line): void {
    const { content } = line;
    this.#tokens.add(content);
    const blank = blankEntry(line, at);
    switch (content.type) {
      case "prompt":
      case "answer":
      case "thinking":
      case "compaction":
        if (content.type !== "thinking" || content.text !== "")
          this.#entries.push({ ...blank, type: content.type, text: content.text });
        break;
      case "task":
        this.#entries.push({ ...blank, text: content.text });
        break;
      case "turn-end":
        if (content.interrupted) this.#addInterruption(blank);
        break;
      case "call": {
        const { callId, name, input } = content;
        const entry: Entry = { ...blank, type: "tool-use", toolName: name, toolUseId: callId, toolInput: input };
        this.#calls.set(callId, entry);
        this.#lastCall = entry;
        this.#entries.push(entry);
        break;
      }
      case "result": {
        const toolName = this.#calls.get(content.callId)?.toolName ?? null;
        const result = { toolName, toolUseId: content.callId, text: content.text };
        this.#entries.push({ ...blank, type: "tool-result", ...result });
        break;
      }
      case "files":
        // A script that the model runs may patch: the change comes between its call and its result.
        this.#lastCall?.files.push(...content.files);
        break;
      case "context":
        this.#model = content.model;
        break;
      default:
        break;
    }
  }

  result(): Conversation {
    return { entries: this.#entries, title: null, model: this.#model, tokens: this.#tokens.sum() };
  }

  /** It is written twice: for the model, and as the turn's end. */
  #addInterruption(blank: Entry): void {
    const text = "Interrupted by the user";
    if (this.#entries.at(-1)?.text !== text) this.#entries.push({ ...blank, text });
  }
}
