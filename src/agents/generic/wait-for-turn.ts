/** Waits until the transcript ends with an answer, because agents often write it shortly after calling their hooks. */
import { readRange } from "../../transcripts/file-bytes.ts";
import { waitUntilWritten } from "../../transcripts/flush.ts";
import { completeLinesBackwards, parseLine } from "../../transcripts/lines.ts";
import type { TranscriptItem } from "../shared/transcript/items.ts";
import { type Description, readLine } from "./transcript.ts";

const POLL_MS = 10;
const MAX_WAIT_MS = 1_000;
const WINDOW_BYTES = 64 * 1024;

export async function waitForAnswer(path: string, from: number, description: Description): Promise<void> {
  await waitUntilWritten(path, from, { pollMs: POLL_MS, longestMs: MAX_WAIT_MS }, (fd, size) =>
    endsWithAnswer(readRange(fd, Math.max(from, size - WINDOW_BYTES), size), description),
  );
}

function endsWithAnswer(bytes: Buffer, description: Description): boolean {
  for (const at of completeLinesBackwards(bytes)) {
    const said = readLine(parseLine(bytes, at), description)?.items.filter(isSaid);
    const last = said?.at(-1);
    if (last) return last.kind === "answer";
  }
  return false;
}

function isSaid({ kind }: TranscriptItem): boolean {
  return kind !== "usage" && kind !== "model" && kind !== "title";
}
