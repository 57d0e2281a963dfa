/** Which sessions of a repository said something. The records of a session have only the beginning of long texts. */
import { sessionRefKey } from "../../model/session.ts";
import type { SearchIndex } from "../index/store.ts";
import { matchesTerms } from "../query/match.ts";
import { literal, noFilters } from "../query/parse.ts";
import { Candidates } from "./candidates.ts";
import { snippetOf } from "./snippets.ts";

export interface Saying {
  field: "prompt" | "answer";
  snippet: string;
}

/** The newest prompt or answer of each session that has the text, in any case, by `sessionRefKey`. */
export function sessionsSaying(index: SearchIndex, root: string, text: string): Map<string, Saying> {
  const terms = [literal(text.toLowerCase())];
  const filters = { ...noFilters(), fields: ["prompt" as const, "answer" as const] };
  const found = new Map<string, Saying>();
  for (const document of new Candidates(index, { terms, filters }, root).newest(null)) {
    const conversation = index.conversation(document.conversation);
    if (conversation?.part !== "" || found.has(sessionRefKey(conversation))) continue;
    const whole = index.textOf(document);
    if (!matchesTerms(whole, terms)) continue;
    const field = document.field === "prompt" ? "prompt" : "answer";
    found.set(sessionRefKey(conversation), { field, snippet: snippetOf(whole, terms).text });
  }
  return found;
}
