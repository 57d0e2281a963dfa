/** A conversation by its turns: each prompt with the answers and the files that came of it. */
import type { Conversation, Entry } from "./model.ts";

export interface ConversationTurn {
  prompt: string;
  answers: string[];
  /** As the agent names them, each once. */
  files: string[];
  entries: Entry[];
}

/** What comes before the first prompt belongs to no turn. */
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
