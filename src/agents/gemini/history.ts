/** The conversation as Gemini CLI itself would read it from its transcript: what a fork has to hold. */
import { asBuffer, completeLines } from "../../transcripts/lines.ts";
import { isRecord } from "../profile.ts";
import { PendingCalls } from "./pending.ts";
import { hasContext, isContext } from "./prompts.ts";
import { isBookkeeping, type Message, ownResult, readRecord } from "./records.ts";

export interface History {
  /** Fields of the session: its id, its project, its directories. */
  fields: Record<string, unknown>;
  messages: Message[];
}

export function readHistory(bytes: Uint8Array): History {
  const buffer = asBuffer(bytes);
  let fields: Record<string, unknown> = {};
  let messages = new Map<string, Message>();
  let begins = false;
  for (const at of completeLines(buffer)) {
    const record = isBookkeeping(buffer, at) ? null : readRecord(buffer, at);
    if (record === null) continue;
    if (record.kind === "message") messages.set(record.message.id, record.message);
    else if (record.kind === "rewind") messages = withoutTail(messages, record.id);
    else fields = { ...fields, ...record.fields };
    // A session that is resumed within its first minute writes the start of a new one into its own transcript.
    if (record.kind === "set" && record.messages && !(begins && record.messages.every(hasContext))) {
      messages = new Map(record.messages.map((message) => [message.id, message]));
    }
    begins = record.kind === "header";
  }
  return { fields, messages: [...messages.values()] };
}

/** Up to and with the entry, and back to where no call is left without its result. All where there is no such entry. */
export function cutBehind(messages: readonly Message[], lastId: string | null): Message[] {
  const at = lastId === null ? -1 : messages.findLastIndex((message) => message.id === lastId);
  const kept = at < 0 ? messages : messages.slice(0, at + 1);
  const pending = new PendingCalls();
  let whole = 0;
  kept.forEach((message, index) => {
    if (pending.add(message)) whole = index + 1;
  });
  return kept.slice(0, whole);
}

/**
 * Each thing once. Gemini CLI tells the model where it runs at every start anew, and takes a call's results both from
 * the call and from the message that carried them.
 */
export function withoutRepetitions(messages: readonly Message[]): Record<string, unknown>[] {
  const answered = new Set<string>();
  return messages.flatMap((message) => {
    for (const call of message.toolCalls) if (call.result !== null) answered.add(call.id);
    if (message.type !== "user") return [withOwnResults(message.native)];
    const content = message.native["content"];
    if (!Array.isArray(content) || content.length !== message.parts.length)
      return hasContext(message) ? [] : [message.native];
    const kept = content.filter((_, index) => {
      const part = message.parts[index];
      if (part?.type === "text") return !isContext(part.text);
      if (part?.type !== "response" || part.id === "") return true;
      const isNew = !answered.has(part.id);
      answered.add(part.id);
      return isNew;
    });
    return kept.length === 0 ? [] : [{ ...message.native, content: kept }];
  });
}

function withOwnResults(native: Message["native"]): Message["native"] {
  const calls = native["toolCalls"];
  if (!Array.isArray(calls)) return native;
  const own = calls.map((call: unknown) =>
    isRecord(call) && typeof call["id"] === "string"
      ? { ...call, result: ownResult(call["id"], call["result"]) }
      : call,
  );
  return { ...native, toolCalls: own };
}

function withoutTail(messages: Map<string, Message>, id: string): Map<string, Message> {
  const all = [...messages];
  const at = all.findIndex(([each]) => each === id);
  return new Map(all.slice(0, Math.max(0, at)));
}
