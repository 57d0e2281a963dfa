/**
 * What the model will say, declared as data. A prompt chooses its scenario by a marker, `[[name]]`; the
 * scenario's replies are given one after another, one for each time that the agent comes back with results.
 */
import { type Conversation, newestPrompt } from "./conversation.ts";

export type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool-use"; name: string; input: Record<string, unknown> };

export interface Reply {
  blocks: Block[];
  /** Milliseconds between two pieces of a streamed text. */
  pace?: number;
  /** Everything is sent but the end: the connection stays open until the agent gives up. */
  stalls?: boolean;
  /** An HTTP error instead of an answer. */
  failure?: { status: number; message: string };
}

export interface Scenario {
  name: string;
  replies: Reply[];
  /** Chosen by a pattern in the newest prompt instead of a marker: for what an agent asks on its own. */
  pattern?: string;
}

export interface Choice {
  reply: Reply;
  scenario: string;
  /** Which of the scenario's replies this is, from 0. */
  index: number;
  /** The same conversation always gives the same key, and two points of one conversation never share one. */
  key: string;
}

export function scenario(name: string, replies: Reply[]): Scenario {
  return { name, replies };
}

export function answering(pattern: RegExp, ...replies: Reply[]): Scenario {
  return { name: `pattern ${pattern.source}`, replies, pattern: pattern.source };
}

/** A reply of texts and tool uses, in order. */
export function reply(...blocks: (string | Block)[]): Reply {
  return { blocks: blocks.map((block) => (typeof block === "string" ? { type: "text", text: block } : block)) };
}

export function thinking(text: string): Block {
  return { type: "thinking", text };
}

export function toolUse(name: string, input: Record<string, unknown>): Block {
  return { type: "tool-use", name, input };
}

export function slowly(pace: number, given: Reply): Reply {
  return { ...given, pace };
}

export function stalling(given: Reply): Reply {
  return { ...given, stalls: true };
}

export function failing(status: number, message: string): Reply {
  return { blocks: [], failure: { status, message } };
}

/** The reply to a conversation. It depends on nothing else, so a retried request gets the same answer. */
export function choose(scenarios: Scenario[], conversation: Conversation, toolsOffered: boolean): Choice {
  const prompt = newestPrompt(conversation);
  const text = prompt?.text ?? "";
  const since = conversation.slice((prompt?.index ?? -1) + 1);
  const index = since.filter((message) => message.role === "assistant").length;
  const key = `${conversation.filter((message) => message.role !== "system").length}`;

  const found = scenarios.find((candidate) => applies(candidate, text));
  if (found) {
    const given = found.replies[Math.min(index, found.replies.length - 1)];
    return { reply: given ?? reply(""), scenario: found.name, index, key };
  }
  // Agents ask for titles and the like in requests of their own, which offer no tools.
  if (!toolsOffered) return { reply: reply("A title"), scenario: "aside", index, key };
  return { reply: reply(`You said: ${text}`), scenario: "echo", index, key };
}

function applies(candidate: Scenario, prompt: string): boolean {
  if (candidate.pattern !== undefined) return new RegExp(candidate.pattern).test(prompt);
  return prompt.includes(`[[${candidate.name}]]`);
}
