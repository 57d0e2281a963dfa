/**
 * The words that the library needs for sentences in plans and receipts. `cli/render/words` has them, so that each
 * sentence is in one place; src/index.ts and the command line install them.
 */
import { InstalledWords } from "../base/words.ts";
import type { ForkNote, NoConversation, RestoreNote } from "../restore/notes.ts";
import type { SideEffect } from "../restore/side-effects/model.ts";
import type { ConflictReason } from "../restore/types.ts";
import type { RecoveryEvent } from "./restore/recover.ts";

/** A side effect in words: `what` is not undone, and `why`. */
export interface SideEffectRow {
  kind: SideEffect["kind"];
  what: string;
  why: string;
  /** The agent's command that caused it. */
  command?: string;
}

export interface Words {
  sideEffect(effect: SideEffect): SideEffectRow;
  /** Continues a sentence that names the file. */
  conflict(reason: ConflictReason): string;
  note(note: RestoreNote | ForkNote | RecoveryEvent): string;
  noConversation(reason: NoConversation): string;
}

export const WORDS = new InstalledWords<Words>("the library");
