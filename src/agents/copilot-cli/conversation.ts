/** A whole transcript as a conversation, for those who read it: `show`, the picker, a hand-over. */
import { asBuffer, type Line, readLines } from "../../transcripts/lines.ts";
import {
  addTokens,
  blankEntry,
  type Conversation,
  type Entry,
  NO_TOKENS,
  type Tokens,
} from "../../transcripts/model.ts";
import { type CopilotLine, readLine } from "./lines.ts";

export function readConversation(bytes: Uint8Array): Conversation {
  const buffer = asBuffer(bytes);
  const reader = new ConversationReader();
  for (const [line, at] of readLines(buffer, readLine)) reader.add(line, at);
  return reader.result();
}

class ConversationReader {
  readonly #entries: Entry[] = [];
  readonly #calls = new Map<string, Entry>();
  #tokens: Tokens = { ...NO_TOKENS };
  #title: string | null = null;
  #model: string | null = null;

  add(line: CopilotLine, at: Line): void {
    const { content } = line;
    if (content.type === "usage") this.#tokens = addTokens(this.#tokens, content.tokens);
    if (line.agent !== null) return;
    const blank = blankEntry(line, at);
    switch (content.type) {
      case "start":
        this.#model = content.model ?? this.#model;
        break;
      case "title":
        this.#title = content.text || this.#title;
        break;
      case "prompt":
      case "compaction":
        this.#entries.push({ ...blank, type: content.type, text: content.text });
        break;
      case "note":
      case "broken-off":
        if (content.text !== "") this.#entries.push({ ...blank, text: content.text });
        break;
      case "answer":
        this.#model = content.model ?? this.#model;
        if (content.thinking !== "") this.#entries.push({ ...blank, type: "thinking", text: content.thinking });
        if (content.text !== "") this.#entries.push({ ...blank, type: "answer", text: content.text });
        for (const { id, name, input } of content.calls) {
          const use: Entry = { ...blank, type: "tool-use", toolName: name, toolUseId: id, toolInput: input, files: [] };
          this.#calls.set(id, use);
          this.#entries.push(use);
        }
        break;
      case "result": {
        const use = this.#calls.get(content.callId);
        if (content.success) use?.files.push(...content.files);
        const of = { toolName: use?.toolName ?? null, toolUseId: content.callId };
        this.#entries.push({ ...blank, type: "tool-result", text: content.text, ...of });
        break;
      }
      default:
        break;
    }
  }

  result(): Conversation {
    return { entries: this.#entries, title: this.#title, model: this.#model, tokens: this.#tokens };
  }
}
