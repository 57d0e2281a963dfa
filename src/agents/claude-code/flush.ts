/**
 * Claude Code writes its transcript some 100 ms behind its hooks: at the end of a turn the last answer is
 * usually not there yet. It goes on writing while a hook runs, so waiting a little is enough.
 */
import { readRange } from "../../transcripts/file-bytes.ts";
import { waitUntilWritten } from "../../transcripts/flush.ts";
import { completeLinesBackwards } from "../../transcripts/lines.ts";
import { textOf } from "../content-blocks.ts";
import type { Event } from "../event.ts";
import { mayBeChain, readChainLine } from "./lines.ts";

const POLL_MS = 4;
const LONGEST_MS = 500;
/** Where the payload has no last words, there is nothing to look for but that the agent is done. */
const LONGEST_WITHOUT_WORDS_MS = 150;
const WINDOW_BYTES = 32 * 1024;
const COMPARED_LENGTH = 120;

export async function waitForTurn(event: Event, transcriptPath: string, from: number): Promise<void> {
  const words = lastWords(event.response);
  const longestMs = words === null ? LONGEST_WITHOUT_WORDS_MS : LONGEST_MS;
  await waitUntilWritten(transcriptPath, from, { pollMs: POLL_MS, longestMs }, (fd, size) => {
    for (let window = WINDOW_BYTES; ; window *= 8) {
      const start = Math.max(from, size - window);
      const ends = endsWithAnswer(readRange(fd, start, size), words);
      if (ends !== undefined) return ends;
      if (start === from) return false;
    }
  });
}

/** By the last line of user or assistant; undefined where there is none in these bytes. */
function endsWithAnswer(bytes: Buffer, words: string | null): boolean | undefined {
  for (const line of completeLinesBackwards(bytes)) {
    if (!mayBeChain(bytes, line)) continue;
    const chain = readChainLine(bytes, line);
    if (chain?.type === "user") return false;
    if (chain?.type !== "assistant") continue;
    if (words === null) return chain.stopReason !== "tool_use";
    return textOf(chain.blocks).trim().endsWith(words);
  }
  return undefined;
}

/** Blocks of an answer are lines of their own, so only its end can be compared. */
function lastWords(response: string | null): string | null {
  const text = response?.trim() ?? "";
  if (text === "") return null;
  const lastBlock = text.slice(text.lastIndexOf("\n") + 1);
  return lastBlock.slice(-COMPARED_LENGTH);
}
