/**
 * A line of a JSONL transcript as the profile's `transcript.lines` describes it: one item for a plain line, one a block
 * for a line that holds a list of them. Foreign and torn lines give none.
 */
import type { EntryType, Tokens } from "../../transcripts/model.ts";
import type { ToolKind } from "../event.ts";
import { firstAt, textAt, valueAt } from "../paths.ts";
import { type ItemPaths, isRecord, type LinesSection, type TokenPaths } from "../profile.ts";

export interface Item {
  type: EntryType;
  text: string;
  toolName: string | null;
  toolUseId: string | null;
  toolInput: unknown;
  files: string[];
}

export interface TranscriptLine {
  id: string | null;
  time: string | null;
  model: string | null;
  tokens: Tokens | null;
  /** Lines that tell of the same tokens have the same key. */
  tokensKey: string | null;
  items: Item[];
}

/** What reading needs of a profile. */
export interface Description {
  lines: LinesSection;
  tools: Readonly<Record<string, ToolKind>>;
}

const LONGEST_PATH = 4096;

export function readLine(value: unknown, { lines, tools }: Description): TranscriptLine | null {
  if (!isRecord(value)) return null;
  const type = typeAt(value, lines, lines.types);
  const items: Item[] = [];
  const blocks = lines.blocks && firstAt(value, lines.blocks.at);
  if (lines.blocks && Array.isArray(blocks)) {
    for (const block of blocks) {
      const own = typeAt(block, lines.blocks, lines.types);
      const item = itemOf(block, lines.blocks, own ?? type, tools);
      if (item && own === null) item.toolUseId ??= textAt(value, lines.tool_use_id);
      if (item) items.push(item);
    }
  } else {
    const item = itemOf(value, lines, type, tools);
    if (item) items.push(item);
  }
  // What stands beside a tool's result was put there by the agent.
  if (items.some((item) => item.type === "tool-result")) {
    for (const item of items) if (item.type === "prompt") item.type = "note";
  }
  const id = textAt(value, lines.id);
  return {
    id,
    time: textAt(value, lines.time),
    model: textAt(value, lines.model),
    tokens: lines.tokens ? tokensAt(value, lines.tokens) : null,
    tokensKey: textAt(value, lines.message_id) ?? id,
    items,
  };
}

/** The texts of the items of a type, as one. */
export function textOf(line: TranscriptLine, type: EntryType): string {
  const texts = line.items.filter((item) => item.type === type && item.text !== "").map((item) => item.text);
  return texts.join("\n");
}

function typeAt(value: unknown, paths: ItemPaths, types: LinesSection["types"]): EntryType | null {
  for (const path of paths.type ?? []) {
    const name = valueAt(value, path);
    if (typeof name === "string" && Object.hasOwn(types, name)) return types[name] ?? null;
  }
  return null;
}

function itemOf(value: unknown, paths: ItemPaths, type: EntryType | null, tools: Description["tools"]): Item | null {
  if (type === null) return null;
  const toolName = textAt(value, paths.tool_name);
  return {
    type,
    text: typeof value === "string" ? value : plainText(firstAt(value, paths.text)),
    toolName,
    toolUseId: textAt(value, paths.tool_use_id),
    toolInput: firstAt(value, paths.tool_input) ?? null,
    files: type === "tool-use" && mayWrite(toolName, tools) ? filesAt(value, paths.file_paths) : [],
  };
}

/** By the kind that the profile gives the tool; a use without a name counts for what it says. */
function mayWrite(toolName: string | null, tools: Description["tools"]): boolean {
  return toolName === null || (Object.hasOwn(tools, toolName) && tools[toolName] === "write");
}

function filesAt(value: unknown, paths: readonly string[] | undefined): string[] {
  const found = (paths ?? []).flatMap((path) => valueAt(value, path));
  return [...new Set(found.filter(isUsablePath))];
}

function isUsablePath(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= LONGEST_PATH && !value.includes("\0");
}

/** A text, or a list of texts and of objects that have one. */
export function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  const parts = value.map((part) => (typeof part === "string" ? part : (textAt(part, ["$.text"]) ?? "")));
  return parts.filter((part) => part !== "").join("\n");
}

export function tokensAt(value: unknown, paths: TokenPaths): Tokens | null {
  const found = {
    input: countAt(value, paths.input),
    output: countAt(value, paths.output),
    cacheRead: countAt(value, paths.cache_read),
    cacheWrite: countAt(value, paths.cache_write),
  };
  if (Object.values(found).every((count) => count === undefined)) return null;
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = found;
  const fresh = paths.input_has_cache ? Math.max(0, input - cacheRead - cacheWrite) : input;
  return { input: fresh, output, cacheRead, cacheWrite };
}

function countAt(value: unknown, paths: readonly string[] | undefined): number | undefined {
  const count = firstAt(value, paths);
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
