/** Where a conversation can be cut: behind a message that leaves no tool use without its result. */
import { type DroidLine, promptOf } from "./lines.ts";

export class Chain {
  readonly #pending = new Set<string>();

  /** Takes the next line; true where the conversation is whole behind it. */
  add(line: DroidLine): boolean {
    if (line.type === "compaction") this.#pending.clear();
    if (line.type !== "message") return this.#pending.size === 0;
    // Words of the user's behind an open tool use: Droid itself has given up on its result.
    if (promptOf(line) !== null) this.#pending.clear();
    for (const block of line.blocks) {
      if (block.type === "tool_use") this.#pending.add(block.id);
      if (block.type === "tool_result") this.#pending.delete(block.id);
    }
    return this.#pending.size === 0;
  }
}
