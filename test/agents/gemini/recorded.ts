/** What the real Gemini CLI sent and wrote. */
import { recordedOf } from "../recorded.ts";

export interface RecordedLine {
  id?: string;
  sessionId?: string;
  summary?: string;
  type?: string;
  content?: unknown;
}

const parts = ["analyzer", "forker", "responder"] as const;
export const gemini = await recordedOf<RecordedLine, (typeof parts)[number]>("gemini", parts);
export const { analyzer, forker, responder } = gemini;
export const { eventOf, linesOf, payload, transcript, transcriptBefore } = gemini;
