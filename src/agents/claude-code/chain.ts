/**
 * Where a conversation can be cut. A cut must leave no tool use without its result and no message half
 * written, or the agent would answer for what is missing with words of its own.
 */
import type { ChainLine } from "./lines.ts";

export class Chain {
  readonly #pending = new Set<string>();
  #unfinished: string | null = null;

  /** Takes the next line; true where the conversation is whole behind it. */
  add(line: ChainLine): boolean {
    for (const block of line.blocks) {
      if (block.type === "tool_use") this.#pending.add(block.id);
      if (block.type === "tool_result") this.#pending.delete(block.id);
    }
    if (line.type === "assistant") this.#unfinished = this.#isUnfinished(line) ? line.messageId : null;
    // Words of the user's behind an open tool use: the agent itself has given up on its result.
    if (isPrompt(line)) {
      this.#pending.clear();
      this.#unfinished = null;
    }
    return this.isWhole;
  }

  get isWhole(): boolean {
    return this.#pending.size === 0 && this.#unfinished === null;
  }

  /** One line is written per block: a message that stops for a tool is whole only with its tool use. */
  #isUnfinished(line: ChainLine): boolean {
    return line.stopReason === "tool_use" && !line.blocks.some((block) => block.type === "tool_use");
  }
}

/** A user's line that is not a tool's result. */
export function isPrompt(line: ChainLine): boolean {
  return line.type === "user" && !line.meta && !line.blocks.some((block) => block.type === "tool_result");
}
