/** Renders forks as JSON. */
import type { MadeFork } from "../../restore/fork/make.ts";
import type { ForkRecord } from "../../steps/forks.ts";
import { noteText } from "./words/restore/notes.ts";
import { sideEffectRow } from "./words/restore/side-effects.ts";

export function forkJson({ chat, from, base: _, v: _v, making: _making, ...rest }: ForkRecord) {
  // As in every receipt. A conversation that was handed off has no transcript yet.
  const transcript = chat?.session ? chat.file : null;
  return { ...rest, step: from.step, from, chat: chat && { ...chat, transcript } };
}

/** A new fork: missing parts, and notes as sentences and as data. */
export function madeJson({ record, missing, notes }: MadeFork) {
  return { fork: forkJson(record), missing: missing.map(sideEffectRow), notes: notes.map(noteText), facts: notes };
}
