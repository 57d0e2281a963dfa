/** A fork as scripts get it. */
import type { ForkRecord } from "../../steps/forks.ts";

export function forkJson({ chat, from, base: _, v: _v, making: _making, ...rest }: ForkRecord) {
  // As in every receipt; a conversation that was handed over has no transcript yet.
  const transcript = chat?.session ? chat.file : null;
  return { ...rest, step: from.step, from, chat: chat && { ...chat, transcript } };
}
