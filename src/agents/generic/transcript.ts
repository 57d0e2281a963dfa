/**
 * Reads transcripts as the profile's `transcript.lines` describes them: lines of JSON, or the list of messages in one
 * document. Foreign and torn lines yield nothing.
 */

import { isRecord } from "../../base/json.ts";
import type { EntryType } from "../../model/conversation.ts";
import type { ToolKind } from "../../model/event.ts";
import type { Tokens } from "../../model/tokens.ts";
import { completeLines, parseLine } from "../../transcripts/lines.ts";
import type { ItemPaths, LineRule, LinesSection, TokenPaths } from "../contract/profile.ts";
import { holds } from "../registry/conditions.ts";
import { firstAt, textAt, valueAt } from "../registry/paths.ts";
import { firstGroup } from "../registry/regex.ts";
import { CutPoints } from "../shared/transcript/cut-points.ts";
import type { ReadEntries, TranscriptItem } from "../shared/transcript/items.ts";

export interface TranscriptLine {
  id: string | null;
  time: string | null;
  items: TranscriptItem[];
}

/** The parts of a profile that reading needs. */
export interface Description {
  lines: LinesSection;
  tools: Readonly<Record<string, ToolKind>>;
}

const MAX_PATH_LENGTH = 4096;

export function entryReader(description: Description): ReadEntries {
  return description.lines.list === undefined ? lineReader(description) : messageReader(description);
}

function lineReader(description: Description): ReadEntries {
  return function* readEntries(bytes, from = 0) {
    const cuts = new CutPoints();
    for (const at of completeLines(bytes, from)) {
      const line = readLine(parseLine(bytes, at), description);
      if (line === null) continue;
      const canCut = cuts.add(line.items);
      // Where no line has an id, none is needed: a cut is an offset.
      const isNamed = line.id !== null || description.lines.id === undefined;
      yield { ...line, start: at.start, end: at.end, cuttable: canCut && isNamed };
    }
  };
}

/** An agent rewrites a document as a whole, so every message has the document's place. */
function messageReader(description: Description): ReadEntries {
  return function* readEntries(bytes) {
    const cuts = new CutPoints();
    const end = bytes.length;
    for (const [index, message] of messagesIn(bytes, description.lines).entries()) {
      const line = readMessage(message, index, description);
      if (line === null) continue;
      const canCut = cuts.add(line.items);
      yield { ...line, start: 0, end, cuttable: canCut && line.id !== null };
    }
  };
}

/** A message without an id from the agent is identified by its position. */
export function readMessage(value: unknown, index: number, description: Description): TranscriptLine | null {
  const line = readLine(value, description);
  if (line === null || line.id !== null || description.lines.id !== undefined) return line;
  return { ...line, id: `#${index + 1}` };
}

/** Empty for a document that is torn, or that has no such list. */
export function messagesIn(bytes: Buffer, { list }: LinesSection): unknown[] {
  const document = list === undefined ? undefined : parseLine(bytes, { start: 0, end: bytes.length });
  const messages = list === undefined ? undefined : valueAt(document, list);
  return Array.isArray(messages) ? messages : [];
}

export function readLine(value: unknown, description: Description): TranscriptLine | null {
  if (!isRecord(value)) return null;
  const { lines } = description;
  const id = textAt(value, lines.id);
  const said = lines.rules
    ? lines.rules.flatMap((rule) => ruledItems(rule, value, description.tools))
    : saidIn(value, description);
  return {
    id,
    time: timeAt(value, lines.time),
    items: [...aboutLine(value, id, lines), ...withoutFalsePrompts(said).map((item) => unwrapped(item, lines))],
  };
}

/** A date, or the milliseconds since 1970. */
function timeAt(value: unknown, paths: readonly string[] | undefined): string | null {
  const found = firstAt(value, paths);
  if (typeof found !== "number") return textAt(value, paths);
  const date = new Date(found);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** The usage, model and title of a line. */
function aboutLine(value: unknown, id: string | null, lines: LinesSection): TranscriptItem[] {
  const items: TranscriptItem[] = [];
  const tokens = lines.tokens && holds(lines.tokens_when, value) ? tokensAt(value, lines.tokens) : null;
  // Several lines may repeat the usage of one message.
  if (tokens) items.push({ kind: "usage", tokens, key: textAt(value, lines.message_id) ?? id });
  const model = textAt(value, lines.model);
  if (model !== null) items.push({ kind: "model", model });
  const title = textAt(value, lines.title);
  if (title !== null) items.push({ kind: "title", text: title });
  return items;
}

function ruledItems(rule: LineRule, line: unknown, tools: Description["tools"]): TranscriptItem[] {
  if (!holds(rule.when, line)) return [];
  if (!rule.in) return holds(rule.each, line) ? ruledItem(rule, line, tools) : [];
  const members = firstAt(line, rule.in);
  if (!Array.isArray(members)) return [];
  return members.filter((member) => holds(rule.each, member)).flatMap((member) => ruledItem(rule, member, tools));
}

function ruledItem(rule: LineRule, value: unknown, tools: Description["tools"]): TranscriptItem[] {
  const items = itemsOf(value, rule, rule.is, tools);
  if (!rule.failed_when) return items;
  const failed = holds(rule.failed_when, value);
  return items.map((item) => (item.kind === "tool-result" ? { ...item, failed } : item));
}

function saidIn(value: Record<string, unknown>, { lines, tools }: Description): TranscriptItem[] {
  const types = lines.types ?? {};
  const type = typeAt(value, lines, types);
  const blocks = lines.blocks && firstAt(value, lines.blocks.at);
  const paths = lines.blocks;
  if (!paths || !Array.isArray(blocks)) return itemsOf(value, lines, type, tools);
  return blocks.flatMap((block) => {
    const own = typeAt(block, paths, types);
    return itemsOf(block, paths, own ?? type, tools, own === null ? textAt(value, lines.tool_use_id) : null);
  });
}

/** The agent, not the user, wrote any text in the same line as a tool result. */
function withoutFalsePrompts(items: TranscriptItem[]): TranscriptItem[] {
  if (!items.some(({ kind }) => kind === "tool-result")) return items;
  return items.map((item) => (item.kind === "prompt" ? { kind: "note", text: item.text } : item));
}

/** What the user typed, without what the agent wraps around it. */
function unwrapped(item: TranscriptItem, { prompt_text: pattern }: LinesSection): TranscriptItem {
  if (item.kind !== "prompt" || pattern === undefined) return item;
  return { ...item, text: firstGroup(pattern, item.text) ?? item.text };
}

function typeAt(value: unknown, paths: ItemPaths, types: Readonly<Record<string, EntryType>>): EntryType | null {
  for (const path of paths.type ?? []) {
    const name = valueAt(value, path);
    if (typeof name === "string" && Object.hasOwn(types, name)) return types[name] ?? null;
  }
  return null;
}

/** `lineUseId` is the line's tool use id, for a block that does not name one. */
function itemsOf(
  value: unknown,
  paths: ItemPaths,
  type: EntryType | null,
  tools: Description["tools"],
  lineUseId: string | null = null,
): TranscriptItem[] {
  if (type === null) return [];
  const text = typeof value === "string" ? value : plainText(firstAt(value, paths.text));
  if (type !== "tool-use" && type !== "tool-result") return [{ kind: type, text }];
  const toolName = textAt(value, paths.tool_name);
  const toolUseId = textAt(value, paths.tool_use_id) ?? lineUseId;
  if (type === "tool-result") return [{ kind: type, toolUseId, toolName, text }];
  const files = mayWrite(toolName, tools) ? filesAt(value, paths.file_paths) : [];
  return [{ kind: type, toolUseId, toolName, input: firstAt(value, paths.tool_input) ?? null, files }];
}

/** Decides by the tool's kind in the profile. A tool use without a name may write. */
function mayWrite(toolName: string | null, tools: Description["tools"]): boolean {
  return toolName === null || (Object.hasOwn(tools, toolName) && tools[toolName] === "write");
}

function filesAt(value: unknown, paths: readonly string[] | undefined): string[] {
  const found = (paths ?? []).flatMap((path) => valueAt(value, path)).map(unquoted);
  return [...new Set(found.filter(isUsablePath))];
}

/** Some agents write the arguments of a tool as JSON inside JSON, so a path is in quotes. */
function unquoted(value: unknown): unknown {
  if (typeof value !== "string" || value.length > MAX_PATH_LENGTH || !value.startsWith('"')) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function isUsablePath(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_PATH_LENGTH && !value.includes("\0");
}

/** Accepts a string, or a list of strings and of objects with a `text` or, for want of it, a `content`. */
export function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  const parts = value.map((part) => (typeof part === "string" ? part : (textAt(part, ["$.text", "$.content"]) ?? "")));
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
