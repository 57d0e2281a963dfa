/** Where a conversation can be cut: no tool use may be left without its result. */
import { isPrompt, type PiEntry } from "./lines.ts";

export class Chain {
  readonly #pending = new Set<string>();

  /** Takes the next entry; true where the conversation is whole behind it. */
  add(entry: PiEntry): boolean {
    // Of an answer that was broken off Pi itself gives up the tools.
    if (isPrompt(entry) || isBrokenOff(entry)) this.#pending.clear();
    else for (const block of entry.blocks) if (block.type === "toolCall") this.#pending.add(block.id);
    if (entry.result) this.#pending.delete(entry.result.toolUseId);
    return this.#pending.size === 0;
  }
}

export function isBrokenOff({ stopReason }: PiEntry): boolean {
  return stopReason === "aborted" || stopReason === "error";
}
