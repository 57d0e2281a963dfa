/**
 * Makes the documents that leave a machine from steps: the counts of a turn, its texts, its messages. The recorded
 * steps and the steps in a checkpoint give the same document, so that the index can be rebuilt from git.
 */
import { tombstoneKey } from "../checkpoints/forget/tombstones.ts";
import type { Conversation, Entry } from "../model/conversation.ts";
import type { Tokens } from "../model/tokens.ts";
import { turnsIn } from "../transcripts/turns.ts";
import {
  MAX_CHECKPOINTS,
  MAX_MESSAGE_TEXT,
  MAX_MESSAGES,
  MAX_PATH,
  MAX_PATHS,
  MAX_TEXT,
  type Message,
  type SharedTurn,
} from "./protocol.ts";

/** What the document of a turn is made of. Texts and names are redacted already. */
export interface TurnFacts {
  agent: string;
  session: string;
  turn: number;
  startedAt: string;
  endedAt: string | null;
  model: string | null;
  status: SharedTurn["status"];
  paths: readonly string[];
  tokens: Tokens | null;
  apiCalls: number | null;
  usd: number | null;
  prompt: string | null;
  checkpoints: readonly string[];
  messages: readonly Message[];
}

/** The document at the level `everything`; `limitedTo` makes the others. */
export function sharedTurn(facts: TurnFacts): SharedTurn {
  const { session, paths, prompt, checkpoints, messages, ...counts } = facts;
  return {
    agent: cut(counts.agent, 64),
    session: tombstoneKey(session),
    turn: counts.turn,
    startedAt: counts.startedAt,
    endedAt: counts.endedAt,
    model: counts.model === null ? null : cut(counts.model, 200),
    status: counts.status,
    fileCount: paths.length,
    tokens: counts.tokens && wholeTokens(counts.tokens),
    apiCalls: counts.apiCalls,
    usd: counts.usd,
    text: {
      session: cut(session, 500),
      prompt: prompt === null ? null : cut(prompt, MAX_TEXT),
      paths: paths.slice(0, MAX_PATHS).map((path) => cut(path, MAX_PATH)),
      checkpoints: checkpoints.slice(-MAX_CHECKPOINTS),
    },
    messages: [...messages],
  };
}

/**
 * The messages of each turn. A turn is found in the conversation by its prompt, in order: compactions and prompts that
 * were never recorded as turns shift numbers, but not texts.
 */
export function messagesByTurn(
  conversation: Conversation,
  prompts: readonly { turn: number; prompt: string | null }[],
): Map<number, Message[]> {
  const found = new Map<number, Message[]>();
  const parts = turnsIn(conversation);
  let next = 0;
  for (const { turn, prompt } of prompts) {
    const wanted = comparable(prompt ?? "");
    const at = parts.findIndex((part, i) => i >= next && comparable(part.prompt) === wanted);
    if (at < 0 || wanted === "") continue;
    found.set(turn, (parts[at]?.entries ?? []).flatMap(messageOf).slice(0, MAX_MESSAGES));
    next = at + 1;
  }
  return found;
}

function messageOf(entry: Entry): Message[] {
  const tool = entry.toolName === null ? null : cut(entry.toolName, 200);
  if (entry.type === "answer" || entry.type === "tool-result") {
    const text = cut(entry.text.trim(), MAX_MESSAGE_TEXT);
    return text === "" ? [] : [{ kind: entry.type, tool, text }];
  }
  if (entry.type !== "tool-use") return [];
  const input = typeof entry.toolInput === "string" ? entry.toolInput : JSON.stringify(entry.toolInput ?? null);
  return [{ kind: "tool-use", tool, text: cut(input, MAX_MESSAGE_TEXT) }];
}

function comparable(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Never cuts a surrogate pair. */
function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).toWellFormed();
}

function wholeTokens({ input, output, cacheRead, cacheWrite }: Tokens): Tokens {
  return {
    input: Math.round(input),
    output: Math.round(output),
    cacheRead: Math.round(cacheRead),
    cacheWrite: Math.round(cacheWrite),
  };
}
