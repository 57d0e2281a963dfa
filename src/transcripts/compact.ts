/**
 * Reads the compact transcript of the Entire CLI (`transcript.jsonl`): one format for all agents, with tool results
 * inside their tool uses. Used if a checkpoint contains no native transcript.
 */
import { isRecord } from "../base/json.ts";
import { blankEntry, type Conversation, type Entry } from "../model/conversation.ts";
import { addTokens, NO_TOKENS, tokenCount } from "../model/tokens.ts";
import { asBuffer, type Line, parseLine } from "./lines.ts";

type Json = Record<string, unknown>;

const NEWLINE = 10;

export function isCompactTranscript(bytes: Uint8Array): boolean {
  for (const [value] of values(asBuffer(bytes))) return isCompactLine(value);
  return false;
}

export function readCompactTranscript(bytes: Uint8Array): Conversation {
  const conversation: Conversation = { entries: [], title: null, model: null, tokens: { ...NO_TOKENS } };
  for (const [value, at] of values(asBuffer(bytes))) {
    if (!isCompactLine(value)) continue;
    conversation.entries.push(...entriesOf(value, at));
    const used = { input: tokenCount(value["input_tokens"]), output: tokenCount(value["output_tokens"]) };
    conversation.tokens = addTokens(conversation.tokens, { ...NO_TOKENS, ...used });
  }
  return conversation;
}

function entriesOf(line: Json, at: Line): Entry[] {
  const blank = blankEntry({ id: text(line["id"]), time: text(line["ts"]) }, at);
  const spoken = line["type"] === "user" ? "prompt" : "answer";
  return blocksOf(line["content"]).flatMap((block) => {
    const words = text(block["text"]);
    const kind = block["type"];
    if (kind === "tool_use") return toolEntries(block, blank);
    // A user's block has no type.
    return words !== null && (kind === undefined || kind === "text") ? [{ ...blank, type: spoken, text: words }] : [];
  });
}

function toolEntries(block: Json, blank: Entry): Entry[] {
  const result = isRecord(block["result"]) ? block["result"] : null;
  const file = result && isRecord(result["file"]) ? text(result["file"]["filePath"]) : null;
  const about = { ...blank, toolName: text(block["name"]), toolUseId: text(block["id"]) };
  const files = file ?? pathIn(block["input"]);
  const use: Entry = { ...about, type: "tool-use", toolInput: block["input"] ?? null, files: files ? [files] : [] };
  if (result === null) return [use];
  return [use, { ...about, type: "tool-result", text: text(result["output"]) ?? "" }];
}

function pathIn(input: unknown): string | null {
  return isRecord(input) ? (text(input["file_path"]) ?? text(input["filePath"]) ?? text(input["path"])) : null;
}

function blocksOf(content: unknown): Json[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

function isCompactLine(value: unknown): value is Json {
  return isRecord(value) && value["v"] === 1 && (value["type"] === "user" || value["type"] === "assistant");
}

/** Yields every nonblank line; the last one may lack a newline. */
function* values(bytes: Buffer): Generator<[value: unknown, at: Line]> {
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline;
    if (end > start) yield [parseLine(bytes, { start, end }), { start, end }];
    start = end + 1;
  }
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
