/** What the real Copilot CLI sent and wrote. */
import type { Event } from "../../../src/model/event.ts";
import { recordedOf } from "../recorded.ts";

export type RecordedLine = Record<string, unknown> & { type: string; id?: string };

const parts = ["analyzer", "forker", "preparer", "hookFile"] as const;
export const copilot = await recordedOf<RecordedLine, (typeof parts)[number]>("copilot-cli", parts);
export const { analyzer, forker, preparer, hookFile } = copilot;
export const { linesOf, payload, transcript, transcriptNames, upTo } = copilot;

/** The event of a recorded payload, as a hook would see it: the payload itself doesn't say which hook it is. */
export function eventOf(name: string, changes: Record<string, unknown> = {}): Event | null {
  return copilot.eventOf({ ...payload(name), ...changes }, name.replace(/\..*$/, ""));
}
