/** Streams a log from start to end, run by run, holding at most one line in memory. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { StreamSection } from "../../agents/contract/profile.ts";
import { findRunner } from "../agents.ts";
import { RunResult, type StreamEvent } from "../result.ts";
import { LineSplitter } from "../stream.ts";
import { SEPARATOR, type StartRecord, startOf } from "./records.ts";

const CHUNK = 1 << 20;
const UNKNOWN: StreamSection = { session_id: [], rules: [] };

export interface LogReader {
  /** Called when a run begins; `start` is null if the log has no start record. */
  run(start: StartRecord | null): void;
  moment?(moment: StreamEvent): void;
  end(result: RunResult): void;
}

export async function readLog({ path, agent }: { path: string; agent: string }, reader: LogReader): Promise<void> {
  const runner = await findRunner(agent);
  const stream = runner?.run.stream ?? UNKNOWN;
  let result: RunResult | undefined;
  const begin = (start: StartRecord | null): RunResult => {
    finish();
    reader.run(start);
    result = new RunResult(stream, runner ? { agent: runner.profile.id, model: start?.model ?? null } : null);
    return result;
  };
  const finish = () => {
    if (result) reader.end(result);
    result = undefined;
  };
  const lines = new LineSplitter({
    line(value) {
      const start = startOf(value);
      if (start) begin(start);
      else for (const moment of (result ?? begin(null)).take(value)) reader.moment?.(moment);
    },
    tooLong() {},
    other(bytes) {
      if (bytes.toString("latin1") === SEPARATOR) finish();
    },
  });
  readChunks(path, (chunk) => lines.push(chunk));
  lines.end();
  finish();
}

/** Reads until `take` returns true. */
export function readChunks(path: string, take: (chunk: Buffer) => unknown): void {
  const fd = openSync(path, "r");
  try {
    // Size the buffer to the file: there may be thousands of small logs.
    const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK, fstatSync(fd).size)));
    for (;;) {
      const size = readSync(fd, buffer, 0, buffer.length, null);
      if (size === 0 || take(buffer.subarray(0, size)) === true) return;
    }
  } finally {
    closeSync(fd);
  }
}
