/** What the first and the last lines of a log tell, without reading what is between. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { StreamSection } from "../agents/profile.ts";
import { completeLines, parseLine } from "../transcripts/lines.ts";
import type { LogFile } from "./layout.ts";
import type { Ending } from "./ledger.ts";
import { parentOf, SEPARATOR, type StartRecord, startOf } from "./records.ts";
import { RunResult } from "./result.ts";
import { objectIn } from "./stream.ts";

const HEAD = 1024 * 1024;
const TAIL = 256 * 1024;

export interface Head {
  start: StartRecord | undefined;
  parent: string | null;
}

/** Whose session a log is; null where it doesn't tell. */
export function agentOf(file: LogFile): string | null {
  return headOf(file.path).start?.agent ?? null;
}

/** Who was asked for what, and by whom. */
export function headOf(path: string): Head {
  const { bytes } = edge(path, "head", HEAD);
  const head: Head = { start: undefined, parent: null };
  for (const at of completeLines(bytes)) {
    const line = parseLine(bytes, at);
    head.start ??= startOf(line);
    head.parent ??= parentOf(line) ?? null;
    // Both stand at the beginning, if they are there.
    if (head.start && startOf(line) === undefined) break;
  }
  return head;
}

/** How the last run ended. */
export function endOf(path: string, stream: StreamSection | undefined): Ending {
  if (!stream) return "interrupted";
  const { bytes, whole } = edge(path, "tail", TAIL);
  let result = new RunResult(stream);
  // The first line is the one that the cut went through.
  let torn = !whole;
  for (const { start, end } of completeLines(bytes)) {
    const line = bytes.subarray(start, end);
    if (!torn && line.toString("latin1") === SEPARATOR) result = new RunResult(stream);
    const value = torn ? undefined : objectIn(line);
    if (value) result.take(value);
    torn = false;
  }
  return result.status;
}

function edge(path: string, which: "head" | "tail", most: number): { bytes: Buffer; whole: boolean } {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const length = Math.min(size, most);
    const bytes = Buffer.alloc(length);
    const read = readSync(fd, bytes, 0, length, which === "head" ? 0 : size - length);
    return { bytes: bytes.subarray(0, read), whole: length === size };
  } finally {
    closeSync(fd);
  }
}
