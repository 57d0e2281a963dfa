/** What the real Droid sent and wrote. */
import { recordedOf } from "../recorded.ts";

export type RecordedLine = Record<string, unknown> & { type: string; id?: string };

const parts = ["analyzer", "forker", "responder"] as const;
export const droid = await recordedOf<RecordedLine, (typeof parts)[number]>("factoryai-droid", parts);
export const { analyzer, forker, responder } = droid;
export const { eventOf, linesOf, payload, transcript, transcriptNames, upTo } = droid;
