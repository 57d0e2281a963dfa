/**
 * Where a conversation can be cut: no call without its result, no words that the user has seen and the model has
 * not, and no turn that has begun but for its prompt. Codex begins a turn before it tells of the prompt.
 */
import type { Content } from "./lines.ts";

export class Chain {
  readonly #pending = new Set<string>();
  #awaitsPrompt = false;

  /** Takes the next line; true where the conversation is whole behind it. */
  add(content: Content): boolean {
    switch (content.type) {
      case "turn-start":
        this.#pending.clear();
        this.#awaitsPrompt = true;
        break;
      case "turn-end":
        this.#pending.clear();
        this.#awaitsPrompt = false;
        break;
      case "prompt":
      case "task":
        this.#awaitsPrompt = false;
        break;
      case "answer":
        this.#awaitsPrompt = false;
        if (content.id !== null) this.#pending.add(`answer ${content.id}`);
        break;
      case "message":
        this.#pending.delete(`answer ${content.id}`);
        break;
      case "call":
        this.#awaitsPrompt = false;
        this.#pending.add(`call ${content.callId}`);
        break;
      case "result":
        this.#pending.delete(`call ${content.callId}`);
        break;
      case "compaction":
        this.#pending.clear();
        break;
      default:
        break;
    }
    return !this.#awaitsPrompt && this.#pending.size === 0;
  }
}
