/** Parses message content in the block format of Anthropic's API, which several agents write. */
import { isRecord } from "../../base/json.ts";

export type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool_use"; id: string; name: string; input: unknown }
  | { type: "tool_result"; id: string; text: string; error: boolean };

/** Skips blocks of unknown type or unexpected shape. */
export function blocksOf(content: unknown): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) => blockOf(block) ?? []);
}

export function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function blockOf(block: unknown): Block | null {
  if (!isRecord(block)) return null;
  switch (block["type"]) {
    case "text":
      return { type: "text", text: text(block["text"]) ?? "" };
    case "thinking":
      return { type: "thinking", text: text(block["thinking"]) ?? "" };
    case "tool_use": {
      const id = text(block["id"]);
      return id === null ? null : { type: "tool_use", id, name: text(block["name"]) ?? "", input: block["input"] };
    }
    case "tool_result": {
      const id = text(block["tool_use_id"]);
      if (id === null) return null;
      return { type: "tool_result", id, text: textOf(blocksOf(block["content"])), error: block["is_error"] === true };
    }
    default:
      return null;
  }
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
