/**
 * Copilot writes its transcript some 100 ms behind its hooks, in one go, and goes on doing so while a hook runs. It
 * writes down the hook itself, too: where that is, all before it is.
 */
import { readRange } from "../../transcripts/file-bytes.ts";
import { waitUntilWritten } from "../../transcripts/flush.ts";
import { parseLine } from "../../transcripts/lines.ts";
import type { Event } from "../event.ts";
import { isRecord } from "../profile.ts";

const POLL_MS = 5;
const LONGEST_MS = 800;
const WINDOW_BYTES = 64 * 1024;
const ENDS: readonly unknown[] = ["agentStop", "errorOccurred"];

export async function waitForTurn(event: Event, transcriptPath: string, from: number): Promise<void> {
  const told = Date.parse(event.timestamp);
  await waitUntilWritten(transcriptPath, from, { pollMs: POLL_MS, longestMs: LONGEST_MS }, (fd, size) =>
    tellsOfHook(readRange(fd, Math.max(from, size - WINDOW_BYTES), size), told),
  );
}

/** Not of an earlier turn's, and not of a subagent's: the one that was told at this moment. */
function tellsOfHook(bytes: Buffer, told: number): boolean {
  const at = bytes.lastIndexOf(`"timestamp":${told}`);
  if (at < 0) return false;
  const start = at === 0 ? 0 : bytes.lastIndexOf(10, at - 1) + 1;
  const end = bytes.indexOf(10, at);
  const line = end < 0 ? undefined : parseLine(bytes, { start, end });
  return (
    isRecord(line) && line["type"] === "hook.start" && isRecord(line["data"]) && ENDS.includes(line["data"]["hookType"])
  );
}
