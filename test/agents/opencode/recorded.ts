/** What our plugin in the real OpenCode sent and wrote. */
import { recordedOf } from "../recorded.ts";

export interface RecordedLine {
  type: string;
  late?: boolean;
  info: Record<string, unknown> & { id: string; role?: string };
  parts?: (Record<string, unknown> & { id: string; type: string })[];
}

const parts = ["analyzer", "forker", "responder", "hookFile"] as const;
export const openCode = await recordedOf<RecordedLine, (typeof parts)[number]>("opencode", parts);
export const { analyzer, forker, responder, hookFile } = openCode;
export const { eventOf, linesOf, payload, transcript } = openCode;

/** Where the line of each prompt begins. */
export function promptStarts(bytes: Buffer): number[] {
  const prompts = analyzer.read(bytes).entries.filter((entry) => entry.type === "prompt");
  return prompts.map((entry) => entry.start);
}
