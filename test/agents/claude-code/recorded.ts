/** What the real Claude Code sent and wrote. */
import { recordedOf } from "../recorded.ts";

export interface RecordedLine {
  type: string;
  uuid?: string;
  sessionId?: string;
  message?: { content?: unknown };
  customTitle?: string;
}

const parts = ["analyzer", "forker", "preparer", "responder"] as const;
export const claude = await recordedOf<RecordedLine, (typeof parts)[number]>("claude-code", parts);
export const { analyzer, forker, preparer, responder } = claude;
export const { eventOf, linesOf, payload, transcript, transcriptBefore } = claude;
