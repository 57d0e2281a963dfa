/** Where a conversation can be cut: behind a line that leaves no tool use without its result. */
import type { Item, TranscriptLine } from "./items.ts";

export class Wholeness {
  readonly #pending = new Set<string>();
  #withoutId = 0;

  /** Takes the next line; true where the conversation is whole behind it. */
  add(line: TranscriptLine): boolean {
    for (const item of line.items) this.#take(item);
    return this.#pending.size === 0 && this.#withoutId === 0;
  }

  #take({ type, toolUseId }: Item): void {
    if (type === "prompt") {
      // Words of the user's behind an open tool use: the agent itself has given up on its result.
      this.#pending.clear();
      this.#withoutId = 0;
    } else if (type === "tool-use") {
      if (toolUseId === null) this.#withoutId++;
      else this.#pending.add(toolUseId);
    } else if (type === "tool-result") {
      if (toolUseId === null) this.#withoutId = Math.max(0, this.#withoutId - 1);
      else this.#pending.delete(toolUseId);
    }
  }
}
