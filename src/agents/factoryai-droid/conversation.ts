/** A whole transcript as a conversation, for those who read it: `show`, the picker, a hand-over. */
import { asBuffer, type Line, readLines } from "../../transcripts/lines.ts";
import { blankEntry, type Conversation, type Entry, NO_TOKENS } from "../../transcripts/model.ts";
import { type Block, textOf } from "../content-blocks.ts";
import { writtenPaths } from "./files.ts";
import { type MessageLine, promptOf, readLine } from "./lines.ts";
import { isInterruption } from "./stretch.ts";

export function readConversation(bytes: Uint8Array): Conversation {
  const buffer = asBuffer(bytes);
  const entries: Entry[] = [];
  const toolNames = new Map<string, string>();
  let title: string | null = null;
  let model: string | null = null;
  for (const [line, at] of readLines(buffer, readLine)) {
    if (line.type === "head") title = line.title ?? title;
    if (line.type === "compaction") entries.push({ ...blankEntry(line, at), type: "compaction", text: line.text });
    if (line.type !== "message") continue;
    model = line.model ?? model;
    entries.push(...entriesOf(line, at, toolNames));
  }
  return { entries, title, model, tokens: { ...NO_TOKENS } };
}

function entriesOf(line: MessageLine, at: Line, toolNames: Map<string, string>): Entry[] {
  const blank = blankEntry(line, at);
  const prompt = promptOf(line);
  if (prompt !== null) return [{ ...blank, type: "prompt", text: prompt }];
  const results = line.blocks.some((block) => block.type === "tool_result");
  if (line.role === "user" && !results) return noteOf(line, blank);
  return line.blocks.flatMap((block) => blockEntry(blank, line, block, toolNames) ?? []);
}

/** What only the model gets is no part of what was said, but for an interruption, which is told twice. */
function noteOf(line: MessageLine, blank: Entry): Entry[] {
  const text = textOf(line.blocks);
  if (line.audience === "user") return text === "" ? [] : [{ ...blank, text }];
  return isInterruption(line) && text.includes("interrupted") ? [{ ...blank, text: "Interrupted by the user" }] : [];
}

function blockEntry(blank: Entry, line: MessageLine, block: Block, toolNames: Map<string, string>): Entry | null {
  switch (block.type) {
    case "text":
      return line.role === "assistant" ? { ...blank, type: "answer", text: block.text } : null;
    case "thinking":
      return { ...blank, type: "thinking", text: block.text };
    case "tool_use": {
      toolNames.set(block.id, block.name);
      const use = { toolName: block.name, toolUseId: block.id, toolInput: block.input };
      return { ...blank, type: "tool-use", ...use, files: writtenPaths(block.name, block.input) };
    }
    case "tool_result": {
      const toolName = toolNames.get(block.id) ?? null;
      return { ...blank, type: "tool-result", text: block.text, toolName, toolUseId: block.id };
    }
  }
}
