/** Reads facts from the first and last lines of a log, without reading the lines between. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { StreamSection } from "../../agents/contract/profile.ts";
import { plainText } from "../../agents/generic/transcript.ts";
import { firstAt } from "../../agents/registry/paths.ts";
import { isRecord } from "../../base/json.ts";
import { completeLines, parseLine } from "../../transcripts/lines.ts";
import { recognizeRunner } from "../agents.ts";
import { RunResult } from "../result.ts";
import { objectIn } from "../stream.ts";
import type { LogFile } from "./layout.ts";
import {
  type EndStatus,
  parentOf,
  SEPARATOR,
  type StartRecord,
  type StopReason,
  startOf,
  stopReasonOf,
  tagsOf,
} from "./records.ts";

const HEAD = 1024 * 1024;
const TAIL = 256 * 1024;

/** The number of lines used to recognize the agent of a log without a start record. */
const MAX_SAMPLE = 40;

export interface Head {
  start: StartRecord | undefined;
  parent: string | null;
  tags: string[];
  /** The agent's own first lines, if the log has no start record. */
  sample: Record<string, unknown>[];
}

/** The agent of a log, from its start record or from the agent's own lines; null if neither identifies the agent. */
export async function agentOf(file: LogFile): Promise<string | null> {
  return (await startIn(headOf(file.path)))?.agent ?? null;
}

/**
 * The agent and prompt of a run. Falls back to the agent's own lines if another tool wrote the log without a start
 * record.
 */
export async function startIn({ start, sample }: Head): Promise<Pick<StartRecord, "agent" | "prompt"> | null> {
  if (start) return start;
  const runner = await recognizeRunner(sample);
  return runner ? { agent: runner.name, prompt: promptIn(sample, runner.run.stream) } : null;
}

function promptIn(sample: readonly Record<string, unknown>[], stream: StreamSection): string {
  const result = new RunResult(stream);
  for (const line of sample) {
    const prompt = result.take(line).find((moment) => moment.kind === "prompt");
    if (prompt?.kind === "prompt" && prompt.text !== "") return prompt.text;
    const isUser = line["type"] === "user" || line["role"] === "user";
    const words = isUser ? plainText(firstAt(line, ["$.message.content", "$.content", "$.text"])) : "";
    if (words !== "") return words;
  }
  return "";
}

/** Reads the start record, the parent and the tags from the beginning of a log. */
export function headOf(path: string): Head {
  const { bytes } = edge(path, "head", HEAD);
  const head: Head = { start: undefined, parent: null, tags: [], sample: [] };
  for (const at of completeLines(bytes)) {
    const line = parseLine(bytes, at);
    head.start ??= startOf(line);
    const parent = parentOf(line);
    const tags = tagsOf(line);
    head.parent ??= parent ?? null;
    head.tags.push(...tags);
    if (startOf(line) !== undefined || parent !== undefined || tags.length > 0) continue;
    // Our records, if any, are at the beginning.
    if (head.start || head.sample.length >= MAX_SAMPLE) break;
    if (isRecord(line)) head.sample.push(line);
  }
  return head;
}

/** Returns the status of the last run. */
export function endOf(path: string, stream: StreamSection | undefined): EndStatus {
  if (!stream) return "interrupted";
  const { bytes, whole } = edge(path, "tail", TAIL);
  let result = new RunResult(stream);
  let stopped: StopReason | undefined;
  // Unless the whole file was read, the first line is cut off.
  let torn = !whole;
  for (const { start, end } of completeLines(bytes)) {
    const line = bytes.subarray(start, end);
    if (!torn && line.toString("latin1") === SEPARATOR) {
      result = new RunResult(stream);
      stopped = undefined;
    }
    const value = torn ? undefined : objectIn(line);
    if (value) result.take(value);
    stopped = stopReasonOf(value) ?? stopped;
    torn = false;
  }
  return stopped ?? result.status;
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
