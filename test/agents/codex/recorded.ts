/** What the real Codex sent and wrote. */
import { recordedOf } from "../recorded.ts";

export interface RecordedLine {
  timestamp: string;
  ordinal?: number;
  type: string;
  payload: Record<string, unknown>;
}

const parts = ["analyzer", "forker", "responder"] as const;
export const codex = await recordedOf<RecordedLine, (typeof parts)[number]>("codex", parts);
export const { analyzer, forker, responder } = codex;
export const { eventOf, linesOf, payload, transcript } = codex;

/** The rollout up to and with the line of that number. */
export function upTo(name: string, ordinal: number): Buffer {
  return codex.upTo(name, `"ordinal":${ordinal},`);
}
