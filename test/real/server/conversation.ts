/**
 * A conversation as a model receives it, whatever the wire protocol: who said what, which tools were used and
 * what came back. Stories compare `outline`s, which read like the conversation itself.
 */
export type Part =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool-use"; id: string; name: string; input: unknown }
  | { type: "tool-result"; id: string; text: string; failed: boolean }
  | { type: "other"; kind: string };

export interface Message {
  role: "user" | "assistant" | "system";
  parts: Part[];
}

export type Conversation = Message[];

/** What people and the model said and did: no system messages, none of the notes that agents mix in. */
function dialogue(conversation: Conversation): Conversation {
  return conversation
    .filter((message) => message.role !== "system")
    .map((message) => ({ role: message.role, parts: message.parts.map(withoutNotes).filter(isSpoken) }))
    .filter((message) => message.parts.length > 0);
}

/** One line a part: `user: …`, `assistant: …`, `assistant uses Write`, `result: …`. */
export function outline(conversation: Conversation): string[] {
  return dialogue(conversation).flatMap((message) => message.parts.map((part) => lineOf(message, part)));
}

/** The newest thing that a user said, past the tool results and notes that travel in the same message. */
export function newestPrompt(conversation: Conversation): { text: string; index: number } | null {
  for (let index = conversation.length - 1; index >= 0; index--) {
    const message = conversation[index];
    if (message?.role !== "user") continue;
    const texts = message.parts.map(withoutNotes).filter((part) => part.type === "text" && part.text !== "");
    const newest = texts.at(-1);
    if (newest?.type === "text") return { text: newest.text, index };
  }
  return null;
}

function lineOf(message: Message, part: Part): string {
  if (part.type === "tool-use") return `${message.role} uses ${part.name}`;
  if (part.type === "tool-result") return `${part.failed ? "failure" : "result"}: ${firstLine(part.text)}`;
  if (part.type === "other") return `${message.role} sends ${part.kind}`;
  return `${message.role}: ${part.text}`;
}

/** Kilo adds its environment to every prompt, others add reminders. */
const NOTES = /<(system-reminder|environment_details)>[\s\S]*?<\/\1>/g;

function withoutNotes(part: Part): Part {
  if (part.type !== "text") return part;
  return { type: "text", text: part.text.replace(NOTES, "").trim() };
}

function isSpoken(part: Part): boolean {
  return part.type !== "thinking" && !(part.type === "text" && part.text === "");
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
