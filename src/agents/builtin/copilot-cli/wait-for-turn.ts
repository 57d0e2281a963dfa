/**
 * Waits for Copilot's transcript, which lags about 100 ms behind the hooks. Copilot keeps writing while a hook runs,
 * and also records the hook itself: once that record appears, everything before it is written.
 */

import { isRecord } from "../../../base/json.ts";
import type { Event } from "../../../model/event.ts";
import { readRange } from "../../../transcripts/file-bytes.ts";
import { waitUntilWritten } from "../../../transcripts/flush.ts";
import { parseLine } from "../../../transcripts/lines.ts";

const POLL_MS = 5;
const MAX_WAIT_MS = 800;
const WINDOW_BYTES = 64 * 1024;
const ENDS: readonly unknown[] = ["agentStop", "errorOccurred"];

export async function waitForTurn(event: Event, transcriptPath: string, from: number): Promise<void> {
  const hookTime = Date.parse(event.timestamp);
  await waitUntilWritten(transcriptPath, from, { pollMs: POLL_MS, longestMs: MAX_WAIT_MS }, (fd, size) =>
    hasHookRecord(readRange(fd, Math.max(from, size - WINDOW_BYTES), size), hookTime),
  );
}

/** Matches the hook by its timestamp, to exclude hooks of earlier turns and of subagents. */
function hasHookRecord(bytes: Buffer, hookTime: number): boolean {
  const at = bytes.lastIndexOf(`"timestamp":${hookTime}`);
  if (at < 0) return false;
  const start = at === 0 ? 0 : bytes.lastIndexOf(10, at - 1) + 1;
  const end = bytes.indexOf(10, at);
  const line = end < 0 ? undefined : parseLine(bytes, { start, end });
  return (
    isRecord(line) && line["type"] === "hook.start" && isRecord(line["data"]) && ENDS.includes(line["data"]["hookType"])
  );
}
