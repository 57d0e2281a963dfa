/** Splits a conversation into turns: each prompt with its answers and files. */
import type { Conversation, Entry } from "../model/conversation.ts";

export interface ConversationTurn {
  prompt: string;
  answers: string[];
  /** Unique paths, as the agent writes them. */
  files: string[];
  entries: Entry[];
}

/** Entries before the first prompt belong to no turn. */
export function turnsIn({ entries }: Conversation): ConversationTurn[] {
  const turns: ConversationTurn[] = [];
  for (const entry of entries) {
    if (entry.type === "prompt") turns.push({ prompt: entry.text, answers: [], files: [], entries: [] });
    const turn = turns.at(-1);
    if (!turn) continue;
    turn.entries.push(entry);
    if (entry.type === "answer" && entry.text.trim() !== "") turn.answers.push(entry.text);
    for (const file of entry.files) if (!turn.files.includes(file)) turn.files.push(file);
  }
  return turns;
}
