/** A session as a conversation, for those who read it: `show`, the picker, a hand-over. */
import { asBuffer, type Line, readLines } from "../../transcripts/lines.ts";
import {
  addTokens,
  blankEntry,
  type Conversation,
  type Entry,
  NO_TOKENS,
  type Tokens,
} from "../../transcripts/model.ts";
import { branchTo } from "./branch.ts";
import { writtenPath } from "./files.ts";
import { type Block, isPrompt, type PiEntry, readEntry, readHeader, textOf } from "./lines.ts";

/** The active branch, with what all of them used. Of a part of a session every line counts: it has no root to start at. */
export function readConversation(bytes: Uint8Array): Conversation {
  const buffer = asBuffer(bytes);
  const isWhole = readHeader(buffer) !== null;
  const active = new Set(isWhole ? branchTo(buffer, null).map((line) => line.start) : []);
  const entries: Entry[] = [];
  let tokens: Tokens = { ...NO_TOKENS };
  let title: string | null = null;
  let model: string | null = null;
  for (const [entry, line] of readLines(buffer, readEntry)) {
    if (entry.tokens) tokens = addTokens(tokens, entry.tokens);
    if (entry.type === "session_info") title = entry.name || null;
    if (isWhole && !active.has(line.start)) continue;
    model = entry.model ?? model;
    entries.push(...entriesOf(entry, line));
  }
  return { entries, title, model, tokens };
}

function entriesOf(entry: PiEntry, line: Line): Entry[] {
  const blank = blankEntry(entry, line);
  if (entry.type === "compaction") return [{ ...blank, type: "compaction", text: entry.summary ?? "" }];
  if (entry.summary !== null) return [{ ...blank, text: entry.summary }];
  const words = textOf(entry.blocks).trim();
  if (isPrompt(entry)) return words === "" ? [] : [{ ...blank, type: "prompt", text: words }];
  if (entry.result) {
    const { toolName, toolUseId } = entry.result;
    return [{ ...blank, type: "tool-result", text: words, toolName, toolUseId }];
  }
  if (entry.role !== "assistant") return words === "" ? [] : [{ ...blank, text: words }];
  const said = entry.blocks.flatMap((block) => blockEntry(blank, block) ?? []);
  return entry.stopReason === "aborted" ? [...said, { ...blank, text: "Interrupted by the user" }] : said;
}

function blockEntry(blank: Entry, block: Block): Entry | null {
  if (block.type === "toolCall") {
    const path = writtenPath(block.name, block.input);
    const files = path === null ? [] : [path];
    return { ...blank, type: "tool-use", toolName: block.name, toolUseId: block.id, toolInput: block.input, files };
  }
  if (block.text.trim() === "") return null;
  return { ...blank, type: block.type === "thinking" ? "thinking" : "answer", text: block.text };
}
