/** Which words are the user's. Gemini CLI writes under the user's role also what it tells the model by itself. */
import type { Message } from "./records.ts";

const SUMMARY = "<state_snapshot>";
const CONTEXT = "<session_context>";
const NOT_THE_USERS = [CONTEXT, "<hook_context>", SUMMARY];
/** What follows is the content of files that the prompt names with `@`. */
const REFERENCED = "--- Content from referenced files ---";

/** A prompt as the user would know it again; null where the user said nothing. */
export function promptText(text: string): string | null {
  const at = text.indexOf(REFERENCED);
  const words = (at < 0 ? text : text.slice(0, at)).trim();
  return words === "" ? null : words;
}

/** What a message says by the user; null for tools' results and what the machine says in the user's name. */
export function writtenByUser(message: Message): string | null {
  if (message.type !== "user" || isSummary(message)) return null;
  if (message.typed !== null) return promptText(message.typed);
  const own = message.parts.filter((part) => part.type === "text" && !isMachine(part.text));
  return promptText(own.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
}

/** The conversation so far in the model's own words: what a compression leaves of it. */
export function isSummary(message: Message): boolean {
  if (message.type !== "user") return false;
  return message.parts.some((part) => part.type === "text" && part.text.trimStart().startsWith(SUMMARY));
}

/** Begins with where and when the session runs, as it is told to the model at every start. */
export function hasContext(message: Message): boolean {
  const first = message.parts[0];
  return message.type === "user" && first?.type === "text" && isContext(first.text);
}

export function isContext(text: string): boolean {
  return text.trimStart().startsWith(CONTEXT);
}

/** The user broke the turn off. */
export function isInterruption(message: Message): boolean {
  const [first] = message.parts;
  return message.type === "info" && first?.type === "text" && first.text === "Request cancelled.";
}

function isMachine(text: string): boolean {
  const start = text.trimStart();
  return NOT_THE_USERS.some((beginning) => start.startsWith(beginning));
}
