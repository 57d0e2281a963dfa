/** Waits until the transcript ends with an answer: agents often write it a moment behind their hooks. */
import { readRange } from "../../transcripts/file-bytes.ts";
import { waitUntilWritten } from "../../transcripts/flush.ts";
import { completeLinesBackwards, parseLine } from "../../transcripts/lines.ts";
import { type Description, readLine } from "./items.ts";

const POLL_MS = 10;
const LONGEST_MS = 300;
const WINDOW_BYTES = 64 * 1024;

export async function waitForAnswer(path: string, from: number, description: Description): Promise<void> {
  await waitUntilWritten(path, from, { pollMs: POLL_MS, longestMs: LONGEST_MS }, (fd, size) =>
    endsWithAnswer(readRange(fd, Math.max(from, size - WINDOW_BYTES), size), description),
  );
}

function endsWithAnswer(bytes: Buffer, description: Description): boolean {
  for (const at of completeLinesBackwards(bytes)) {
    const last = readLine(parseLine(bytes, at), description)?.items.at(-1);
    if (last) return last.type === "answer";
  }
  return false;
}
