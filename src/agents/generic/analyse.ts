/** Reads a transcript by its description: the new tail of a turn, or the whole conversation. */
import { asBuffer, completeLines, endOfLines, type Line, parseLine } from "../../transcripts/lines.ts";
import {
  blankStretch,
  type Conversation,
  type Entry,
  NO_TOKENS,
  sumOfTokens,
  type Tokens,
  type TranscriptStretch,
} from "../../transcripts/model.ts";
import type { TranscriptAnalyser } from "../agent.ts";
import { textAt } from "../paths.ts";
import { type Description, readLine, type TranscriptLine, textOf } from "./items.ts";
import { Wholeness } from "./wholeness.ts";

export function createAnalyser(description: Description): TranscriptAnalyser {
  return {
    readStretch: (bytes, offset) => readStretch(bytes, offset, description),
    read: (bytes) => readConversation(bytes, description),
    countsTokens: description.lines.tokens !== undefined,
  };
}

function readStretch(bytes: Uint8Array, offset: number, description: Description): TranscriptStretch {
  const buffer = asBuffer(bytes);
  const wholeness = new Wholeness();
  const tokens = new TokenCount();
  const files = new Set<string>();
  const stretch = blankStretch(offset + endOfLines(buffer));
  for (const at of completeLines(buffer)) {
    const line = readLine(parseLine(buffer, at), description);
    if (!line) continue;
    tokens.add(line, at);
    stretch.model = line.model ?? stretch.model;
    if (wholeness.add(line) && line.id !== null) stretch.lastId = line.id;
    for (const item of line.items) {
      for (const file of item.files) files.add(file);
      if (item.type === "compaction") stretch.compacted = true;
    }
    const prompt = textOf(line, "prompt");
    if (prompt !== "") stretch.prompts.push(prompt);
    stretch.lastAnswer = textOf(line, "answer") || stretch.lastAnswer;
  }
  stretch.files = [...files];
  stretch.tokens = tokens.sum();
  return stretch;
}

function readConversation(bytes: Uint8Array, description: Description): Conversation {
  const buffer = asBuffer(bytes);
  const tokens = new TokenCount();
  const toolNames = new Map<string, string>();
  const conversation: Conversation = { entries: [], title: null, model: null, tokens: { ...NO_TOKENS } };
  for (const at of completeLines(buffer)) {
    const value = parseLine(buffer, at);
    const line = readLine(value, description);
    if (!line) continue;
    tokens.add(line, at);
    conversation.model = line.model ?? conversation.model;
    conversation.title = textAt(value, description.lines.title) ?? conversation.title;
    conversation.entries.push(...entriesOf(line, at, toolNames));
  }
  conversation.tokens = tokens.sum();
  return conversation;
}

function entriesOf(line: TranscriptLine, at: Line, toolNames: Map<string, string>): Entry[] {
  return line.items.map((item) => {
    const { toolUseId, toolName } = item;
    if (item.type === "tool-use" && toolUseId !== null && toolName !== null) toolNames.set(toolUseId, toolName);
    const known = toolUseId === null ? undefined : toolNames.get(toolUseId);
    return { ...item, toolName: toolName ?? known ?? null, id: line.id, time: line.time, start: at.start, end: at.end };
  });
}

/** Lines may repeat what a message used; then the last one counts. */
class TokenCount {
  readonly #counts = new Map<string, Tokens>();

  add(line: TranscriptLine, at: Line): void {
    if (line.tokens) this.#counts.set(line.tokensKey ?? `@${at.start}`, line.tokens);
  }

  sum(): Tokens {
    return sumOfTokens(this.#counts.values());
  }
}
