/**
 * Where a conversation can be cut. A cut must leave no tool call without its result: the model's vendor refuses
 * such a conversation.
 */
import { writtenByUser } from "./prompts.ts";
import type { Message } from "./records.ts";

export class PendingCalls {
  readonly #open = new Set<string>();

  /** Takes the next message; true where the conversation is whole behind it. */
  add(message: Message): boolean {
    for (const part of message.parts) {
      if (part.type === "call") this.#open.add(part.id);
      if (part.type === "response") this.#open.delete(part.id);
    }
    for (const call of message.toolCalls) {
      if (call.result === null) this.#open.add(call.id);
      else this.#open.delete(call.id);
    }
    // Words of the user's behind an open call: the agent itself has given up on its result.
    if (writtenByUser(message) !== null) this.#open.clear();
    return this.#open.size === 0;
  }
}
