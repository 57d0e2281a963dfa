/** Where a conversation can be cut: behind what was said or done, with no call left without its result. */
import type { Content, CopilotLine } from "./lines.ts";

const SAID: readonly Content["type"][] = ["prompt", "note", "answer", "result", "turn-end", "broken-off", "compaction"];

export class Chain {
  readonly #pending = new Set<string>();

  /** Takes the next line; true where the conversation can be cut behind it. A subagent's lines count for nothing. */
  add({ agent, content }: CopilotLine): boolean {
    if (agent !== null) return false;
    // Words of the user's behind an open call: Copilot itself has given up on its result.
    if (content.type === "prompt" || content.type === "compaction") this.#pending.clear();
    if (content.type === "answer") for (const call of content.calls) this.#pending.add(call.id);
    if (content.type === "result") this.#pending.delete(content.callId);
    return this.#pending.size === 0 && SAID.includes(content.type);
  }
}
