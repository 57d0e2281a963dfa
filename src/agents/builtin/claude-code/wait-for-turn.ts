/**
 * Reads the end of Claude Code's transcript: waits for the end of a turn, and tells whether a turn is under way. The
 * transcript lags about 100 ms behind the hooks: at the end of a turn the last answer is usually missing. Claude Code
 * keeps writing while a hook runs, so a short wait is enough.
 */

import type { Event } from "../../../model/event.ts";
import { readRange, withFile } from "../../../transcripts/file-bytes.ts";
import { waitUntilWritten } from "../../../transcripts/flush.ts";
import { completeLinesBackwards } from "../../../transcripts/lines.ts";
import { textOf } from "../../shared/content-blocks.ts";
import { mayBeMessage, readMessage } from "./transcript.ts";

const POLL_MS = 4;
const MAX_MS = 500;
/** The limit if the payload contains no answer to look for in the transcript. */
const MAX_WITHOUT_WORDS_MS = 150;
const WINDOW_BYTES = 32 * 1024;
/** The prompt hook must not wait: a line larger than this is not read. */
const MAX_WINDOW_BYTES = 16 * 1024 * 1024;
const COMPARED_LENGTH = 120;

export async function waitForTurn(event: Event, transcriptPath: string, from: number): Promise<void> {
  const words = lastWords(event.response);
  const longestMs = words === null ? MAX_WITHOUT_WORDS_MS : MAX_MS;
  await waitUntilWritten(transcriptPath, from, { pollMs: POLL_MS, longestMs }, (fd, size) => {
    for (let window = WINDOW_BYTES; ; window *= 8) {
      const start = Math.max(from, size - window);
      const ends = endsWithAnswer(readRange(fd, start, size), words);
      if (ends !== undefined) return ends;
      if (start === from) return false;
    }
  });
}

/**
 * Claude Code calls the prompt hook when a prompt enters its queue, even while a turn is running. A tool call
 * without a result at the end shows such a turn: an interruption would have left a result and a separate line.
 */
export function isUsingTool(transcriptPath: string): boolean {
  const last = withFile(transcriptPath, (fd, size) => {
    for (let window = WINDOW_BYTES; ; window *= 8) {
      const start = Math.max(0, size - window);
      const message = lastMessage(readRange(fd, start, size));
      if (message !== undefined || start === 0 || window > MAX_WINDOW_BYTES) return message;
    }
  });
  return last?.type === "assistant" && last.blocks.some(({ type }) => type === "tool_use");
}

function lastMessage(bytes: Buffer) {
  for (const line of completeLinesBackwards(bytes)) {
    if (!mayBeMessage(bytes, line)) continue;
    const message = readMessage(bytes, line);
    if (message?.type === "user" || message?.type === "assistant") return message;
  }
  return undefined;
}

/** Checks the last user or assistant line; undefined if these bytes contain none. */
function endsWithAnswer(bytes: Buffer, words: string | null): boolean | undefined {
  for (const line of completeLinesBackwards(bytes)) {
    if (!mayBeMessage(bytes, line)) continue;
    const message = readMessage(bytes, line);
    if (message?.type === "user") return false;
    if (message?.type !== "assistant") continue;
    if (words === null) return message.stopReason !== "tool_use";
    return textOf(message.blocks).trim().endsWith(words);
  }
  return undefined;
}

/** Each block of an answer is a separate line, so only the end of the answer can be compared. */
function lastWords(response: string | null): string | null {
  const text = response?.trim() ?? "";
  if (text === "") return null;
  const lastBlock = text.slice(text.lastIndexOf("\n") + 1);
  return lastBlock.slice(-COMPARED_LENGTH);
}
