/** Which words are the user's: in its transcripts Cursor wraps them in `<user_query>`, with context around it. */
import type { TranscriptAnalyser } from "../agent.ts";

export function usersWords(text: string): string | null {
  const start = text.indexOf("<user_query>");
  const end = text.lastIndexOf("</user_query>");
  const words = start >= 0 && end > start ? text.slice(start + "<user_query>".length, end) : text;
  return words.trim() === "" ? null : words.trim();
}

export function withUsersWords(analyser: TranscriptAnalyser): TranscriptAnalyser {
  return {
    ...analyser,
    readStretch(bytes, offset) {
      const stretch = analyser.readStretch(bytes, offset);
      return { ...stretch, prompts: stretch.prompts.flatMap((prompt) => usersWords(prompt) ?? []) };
    },
    read(bytes) {
      const conversation = analyser.read(bytes);
      for (const entry of conversation.entries) {
        if (entry.type === "prompt") entry.text = usersWords(entry.text) ?? "";
      }
      return conversation;
    },
  };
}
