/** What our extension in the real Pi sent, and what Pi wrote. */
import { jsonl, recordedOf } from "../recorded.ts";

export interface RecordedLine {
  type: string;
  id: string;
  parentId?: string | null;
  message?: Record<string, unknown> & { role: string };
  [key: string]: unknown;
}

const parts = ["analyzer", "forker", "responder", "hookFile"] as const;
export const pi = await recordedOf<RecordedLine, (typeof parts)[number]>("pi", parts);
export const { analyzer, forker, responder, hookFile } = pi;
export const { eventOf, linesOf, payload } = pi;

/** Two turns, one that was interrupted, and on another branch one more, a compaction and a last one. */
export const session: Buffer = pi.transcript("session");
export const lines: readonly RecordedLine[] = linesOf(session);

export const SESSION = "01a1e919-98ab-7428-9c2c-40a63de699d5";
export const DIRECTORY = "/home/dev/.pi/agent/sessions/--home-dev-proj--";
export const PATH: string = `${DIRECTORY}/2026-11-17T10-42-11-244Z_${SESSION}.jsonl`;

/** Where each line of a prompt begins, on whatever branch. */
export const promptStarts: readonly number[] = lines.flatMap((line, at) =>
  line.message?.role === "user" ? [jsonl(lines.slice(0, at)).length] : [],
);
