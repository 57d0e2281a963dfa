/** A whole transcript as a conversation, for those who read it: `show`, the picker, a hand-over. */
import { asBuffer, completeLines, type Line, parseLine } from "../../transcripts/lines.ts";
import { blankEntry, type Conversation, type Entry, sumOfTokens, type Tokens } from "../../transcripts/model.ts";
import { type Block, textOf } from "../content-blocks.ts";
import { isRecord } from "../profile.ts";
import { isPrompt } from "./chain.ts";
import { writtenPath } from "./files.ts";
import { type ChainLine, leadingType, mayBeChain, toChainLine } from "./lines.ts";
import { isInterruption, writtenByUser } from "./prompts.ts";

/** Titles, from the one that counts most. */
const TITLES: readonly [type: string, field: string][] = [
  ["custom-title", "customTitle"],
  ["ai-title", "aiTitle"],
  ["summary", "summary"],
];

export function readConversation(bytes: Uint8Array): Conversation {
  const buffer = asBuffer(bytes);
  const entries: Entry[] = [];
  const tokens = new Map<string, Tokens>();
  const titles = new Map<string, string>();
  const toolNames = new Map<string, string>();
  let model: string | null = null;
  let sidechain: boolean | null = null;
  for (const at of completeLines(buffer)) {
    if (!mayBeChain(buffer, at)) {
      readTitle(buffer, at, titles);
      continue;
    }
    const line = toChainLine(parseLine(buffer, at));
    if (line === null) continue;
    if (line.tokens) tokens.set(line.messageId ?? line.uuid, line.tokens);
    sidechain ??= line.sidechain;
    if (line.sidechain !== sidechain) continue;
    model = line.model ?? model;
    entries.push(...entriesOf(line, at, toolNames));
  }
  return {
    entries,
    title: TITLES.map(([type]) => titles.get(type)).find((title) => title !== undefined) ?? null,
    model,
    tokens: sumOfTokens(tokens.values()),
  };
}

function readTitle(buffer: Buffer, at: Line, titles: Map<string, string>): void {
  const type = leadingType(buffer, at);
  const field = TITLES.find(([name]) => name === type)?.[1];
  if (type === null || field === undefined) return;
  const value = parseLine(buffer, at);
  const title = isRecord(value) ? value[field] : undefined;
  if (typeof title === "string" && title !== "") titles.set(type, title);
}

function entriesOf(line: ChainLine, at: Line, toolNames: Map<string, string>): Entry[] {
  const blank = blankEntry({ id: line.uuid, time: line.time }, at);
  if (line.compaction) return [{ ...blank, type: "compaction", text: textOf(line.blocks) }];
  if (line.type === "user" && isPrompt(line)) return [userEntry(blank, textOf(line.blocks))];
  if (line.type === "attachment" || line.type === "system" || line.meta) return [];
  return line.blocks.flatMap((block) => blockEntry(blank, line, block, toolNames) ?? []);
}

function userEntry(blank: Entry, text: string): Entry {
  const prompt = writtenByUser(text);
  if (prompt !== null) return { ...blank, type: "prompt", text: prompt };
  return { ...blank, text: isInterruption(text) ? "Interrupted by the user" : text };
}

function blockEntry(blank: Entry, line: ChainLine, block: Block, toolNames: Map<string, string>): Entry | null {
  switch (block.type) {
    case "text":
      return line.type === "assistant"
        ? { ...blank, type: "answer", text: block.text }
        : { ...blank, text: block.text };
    case "thinking":
      return { ...blank, type: "thinking", text: block.text };
    case "tool_use": {
      toolNames.set(block.id, block.name);
      const path = writtenPath(block.name, block.input);
      const files = path === null ? [] : [path];
      return { ...blank, type: "tool-use", toolName: block.name, toolUseId: block.id, toolInput: block.input, files };
    }
    case "tool_result": {
      const toolName = toolNames.get(block.id) ?? null;
      return { ...blank, type: "tool-result", text: block.text, toolName, toolUseId: block.id };
    }
  }
}
