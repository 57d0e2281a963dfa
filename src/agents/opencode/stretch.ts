/** Reads one stretch of a conversation: what a turn added, never the whole. */
import { endOfLines } from "../../transcripts/lines.ts";
import { addTokens, NO_TOKENS, type TranscriptStretch } from "../../transcripts/model.ts";
import { writtenFiles } from "./files.ts";
import { isCompaction, promptOf, readRecords, wordsOf } from "./records.ts";

export function readStretch(bytes: Uint8Array, offset: number): TranscriptStretch {
  const { messages } = readRecords(bytes);
  const answers = messages.filter((message) => message.role === "assistant" && !message.summary);
  return {
    end: offset + endOfLines(bytes),
    lastId: messages.findLast((message) => message.whole)?.id ?? null,
    prompts: messages.flatMap((message) => promptOf(message) ?? []),
    files: writtenFiles(messages),
    tokens: messages.reduce((sum, message) => (message.tokens ? addTokens(sum, message.tokens) : sum), {
      ...NO_TOKENS,
    }),
    model: answers.findLast((message) => message.model !== null)?.model ?? null,
    lastAnswer: answers.map(wordsOf).findLast((words) => words !== "") ?? null,
    interrupted: messages.at(-1)?.interrupted ?? false,
    compacted: messages.some((message) => message.summary || isCompaction(message)),
  };
}
