/**
 * Finds where a conversation can be cut. A cut must not leave a tool use without its result or a message half written:
 * the model's vendor refuses such a conversation, or the agent makes up the missing part.
 */
import type { TranscriptEntry, TranscriptItem } from "./items.ts";

export class CutPoints {
  readonly #openUses = new Set<string>();
  readonly #open = new Set<string>();
  #usesWithoutId = 0;

  /** Processes the next entry's items; returns true if the conversation can be cut after the entry. */
  add(items: readonly TranscriptItem[]): boolean {
    for (const item of items) this.#follow(item);
    return this.canCut;
  }

  get canCut(): boolean {
    return this.#openUses.size === 0 && this.#open.size === 0 && this.#usesWithoutId === 0;
  }

  /** Forbids cuts until `what` is closed. For constructs of a single format, such as an answer announced in advance. */
  open(what: string): void {
    this.#open.add(what);
  }

  close(what: string): void {
    this.#open.delete(what);
  }

  /** Closes everything except `except`, because the agent itself gave up on it. */
  clear(except?: string): void {
    this.#openUses.clear();
    for (const what of this.#open) if (what !== except) this.#open.delete(what);
    this.#usesWithoutId = 0;
  }

  #follow(item: TranscriptItem): void {
    if (item.kind === "prompt") this.clear();
    if (item.kind === "tool-use") {
      if (item.toolUseId === null) this.#usesWithoutId++;
      else this.#openUses.add(item.toolUseId);
    }
    if (item.kind === "tool-result") {
      if (item.toolUseId === null) this.#usesWithoutId = Math.max(0, this.#usesWithoutId - 1);
      else this.#openUses.delete(item.toolUseId);
    }
  }
}

/** The offset after the last cuttable entry; `otherwise` if there is none. */
export function lastCut(entries: Iterable<TranscriptEntry>, otherwise: number): number {
  let end = otherwise;
  for (const entry of entries) if (entry.cuttable) end = entry.end + 1;
  return end;
}
