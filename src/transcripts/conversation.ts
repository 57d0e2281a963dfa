/** Questions to a conversation, whichever agent's it is. */
import type { Conversation, Entry } from "./model.ts";

export function lastPrompt(conversation: Conversation): Entry | undefined {
  return conversation.entries.findLast((entry) => entry.type === "prompt");
}

export function lastAnswer(conversation: Conversation): Entry | undefined {
  return conversation.entries.findLast((entry) => entry.type === "answer");
}

/** The result that belongs to a tool use. */
export function resultOf(conversation: Conversation, toolUseId: string): Entry | undefined {
  return conversation.entries.find((entry) => entry.type === "tool-result" && entry.toolUseId === toolUseId);
}

/** The entries up to the one with that id, itself included; undefined where there is none. */
export function cutAt(conversation: Conversation, entryId: string): Conversation | undefined {
  const last = conversation.entries.findLastIndex((entry) => entry.id === entryId);
  if (last < 0) return undefined;
  return { ...conversation, entries: conversation.entries.slice(0, last + 1) };
}

/** Every file that its tools say they wrote, once, in order. */
export function filesWritten(conversation: Conversation): string[] {
  return [...new Set(conversation.entries.flatMap((entry) => entry.files))];
}
