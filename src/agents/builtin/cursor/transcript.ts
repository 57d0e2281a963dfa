/** Reads Cursor's transcripts as its profile describes them, except for the prompts. */
import type { ReadEntries, TranscriptItem } from "../../shared/transcript/items.ts";

const QUERY = "<user_query>";
const QUERY_END = "</user_query>";

export function withUsersWords(readEntries: ReadEntries): ReadEntries {
  return function* (bytes, from) {
    for (const entry of readEntries(bytes, from)) yield { ...entry, items: promptsIn(entry.items) };
  };
}

/** The user's text in a prompt. Cursor wraps it in a tag and surrounds it with context. */
export function usersWords(text: string): string | null {
  const start = text.indexOf(QUERY);
  const end = text.lastIndexOf(QUERY_END);
  const words = start >= 0 && end > start ? text.slice(start + QUERY.length, end) : text;
  return words.trim() === "" ? null : words.trim();
}

/** If one prompt has the tag, prompts without the tag are context. */
function promptsIn(items: readonly TranscriptItem[]): TranscriptItem[] {
  const isWrapped = items.some((item) => item.kind === "prompt" && item.text.includes(QUERY));
  return items.map((item) => {
    if (item.kind !== "prompt") return item;
    if (isWrapped && !item.text.includes(QUERY)) return { kind: "note", text: item.text };
    return { ...item, text: usersWords(item.text) ?? "" };
  });
}
