/** A slice of a transcript as tests expect it: one without an interruption, unless they say so. */
import type { TranscriptSlice } from "../../src/model/conversation.ts";

/** Tokens are those of the input, of the output, read from the cache and written to it. */
export function used(model: string, apiCalls: number, tokens: [number, number, number, number]) {
  const [input, output, cacheRead, cacheWrite] = tokens;
  return { model, apiCalls, tokens: { input, output, cacheRead, cacheWrite } };
}

export function slice(
  end: number,
  lastId: string,
  usage: ReturnType<typeof used>,
  said: Pick<TranscriptSlice, "prompts" | "files" | "lastAnswer"> & Partial<TranscriptSlice>,
): TranscriptSlice {
  return { end, lastId, ...usage, interrupted: false, ...said };
}
