/** A whole transcript as a conversation, for those who read it: `show`, the picker, a hand-over. */
import { addTokens, blankEntry, type Conversation, type Entry, NO_TOKENS } from "../../transcripts/model.ts";
import { filesOf } from "./files.ts";
import { isCompaction, type Message, type Part, promptOf, readRecords, wordsOf } from "./records.ts";

export function readConversation(bytes: Uint8Array): Conversation {
  const { messages, session } = readRecords(bytes);
  const title = session?.["title"];
  return {
    entries: messages.flatMap((message) => entriesOf(message, messages)),
    title: typeof title === "string" && title !== "" && !isPlaceholder(title) ? title : null,
    model: messages.findLast((message) => message.model !== null && !message.summary)?.model ?? null,
    tokens: messages.reduce((sum, message) => (message.tokens ? addTokens(sum, message.tokens) : sum), {
      ...NO_TOKENS,
    }),
  };
}

/** What a session is called until its first answer. */
function isPlaceholder(title: string): boolean {
  return /^(?:New|Child) session - \d{4}-/.test(title);
}

function entriesOf(message: Message, all: readonly Message[]): Entry[] {
  const blank = blankEntry(message, message.at);
  if (isCompaction(message)) {
    const summary = all.find((other) => other.summary && other.parentId === message.id);
    return [{ ...blank, type: "compaction", text: summary ? wordsOf(summary) : "" }];
  }
  if (message.summary) return [];
  const prompt = promptOf(message);
  if (prompt !== null) return [{ ...blank, type: "prompt", text: prompt }];
  const entries = message.parts.flatMap((part) => partEntries(blank, message, part));
  return message.interrupted ? [...entries, { ...blank, text: "Interrupted by the user" }] : entries;
}

function partEntries(blank: Entry, message: Message, part: Part): Entry[] {
  switch (part.type) {
    case "text":
      if (part.text.trim() === "") return [];
      return [{ ...blank, type: message.role === "assistant" ? "answer" : "note", text: part.text }];
    case "reasoning":
      return part.text.trim() === "" ? [] : [{ ...blank, type: "thinking", text: part.text }];
    case "tool":
      return toolEntries({ ...blank, toolName: part.name, toolUseId: part.id }, part);
    case "compaction":
      return [];
  }
}

function toolEntries(blank: Entry, part: Part & { type: "tool" }): Entry[] {
  const use: Entry = { ...blank, type: "tool-use", toolInput: part.input, files: filesOf(part) };
  const isOver = part.status === "completed" || part.status === "error";
  return isOver ? [use, { ...blank, type: "tool-result", text: part.output }] : [use];
}
