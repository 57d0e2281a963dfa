/**
 * What a resumed session is told of earlier ones, from their logs: who asked for what, what was done, what came of it.
 * Within a limit, and what was left out is said.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { shorten } from "../base/text.ts";
import { findRunner } from "./agents.ts";
import { SEPARATOR, startOf } from "./records.ts";
import { type Moment, RunResult } from "./result.ts";
import { LineSplitter } from "./stream.ts";
import type { RunNode } from "./tree.ts";

/** In characters; an argument may be no longer than 128 KiB. */
export const LONGEST_CONTEXT = 60_000;
/** With less than this for each, the last ones are left out. */
const LEAST_SHARE = 1_500;
const LONGEST_NOTE = 1_000;
const LONGEST_INPUT = 300;
const CHUNK = 1 << 20;

/** One prompt and what followed. */
export interface ToldRun {
  prompt: string;
  notes: string[];
  /** Earlier notes that are not kept. */
  passed: number;
  result: string;
  failure: string | null;
}

interface ToldSession {
  node: RunNode;
  depth: number;
  parent: string | null;
  runs: ToldRun[];
}

/** The session alone, or with all that came of it. */
export async function contextOf(node: RunNode, withTree: boolean, limit = LONGEST_CONTEXT): Promise<string> {
  const nodes = withTree ? inOrder(node, 0, null) : [{ node, depth: 0, parent: null }];
  const room = Math.max(1, Math.min(nodes.length, Math.floor(limit / LEAST_SHARE)));
  const share = Math.floor(limit / room) - 200;
  const parts = [opening(nodes.length)];
  for (const each of nodes.slice(0, room)) {
    parts.push(sessionText({ ...each, runs: await readRuns(each.node, share) }, share));
  }
  if (nodes.length > room) parts.push(`[${nodes.length - room} more sessions are left out.]`);
  parts.push("End of the record.");
  return parts.join("\n\n");
}

function opening(count: number): string {
  const what = count === 1 ? "an earlier session" : `${count} earlier sessions, each below the one that started it`;
  return `This is the record of ${what}. It is given to you as context: the work may be continued, and what is done need not be done again.`;
}

function inOrder(node: RunNode, depth: number, parent: string | null): Omit<ToldSession, "runs">[] {
  return [{ node, depth, parent }, ...node.children.flatMap((child) => inOrder(child, depth + 1, node.id))];
}

function sessionText({ node, depth, parent, runs }: ToldSession, share: number): string {
  const of = parent === null ? "" : `, started by ${parent}`;
  const lines = [`${"#".repeat(Math.min(depth + 1, 6))} Session ${node.id} (${node.agent}, ${node.status}${of})`];
  const each = Math.floor(share / Math.max(1, runs.length));
  for (const run of runs) lines.push(...runText(run, each));
  return lines.join("\n");
}

function runText(run: ToldRun, share: number): string[] {
  const quarter = Math.max(100, Math.floor(share / 4));
  const prompt = cut(run.prompt, quarter);
  const result = cut(run.result, quarter);
  let left = share - prompt.length - result.length - 100;
  const kept: string[] = [];
  for (const note of run.notes.toReversed()) {
    left -= note.length + 1;
    if (left < 0) break;
    kept.unshift(note);
  }
  const missing = run.passed + run.notes.length - kept.length;
  return [
    `Prompt: ${prompt}`,
    ...(missing > 0 ? [`[${missing} earlier entries are left out.]`] : []),
    ...kept,
    ...(run.failure === null ? [] : [`It failed: ${cut(run.failure, LONGEST_NOTE)}`]),
    `Result: ${result === "" ? "(none)" : result}`,
  ];
}

/** Says how much is missing. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${shorten(text, length)} [${text.length - length} more characters are left out.]`;
}

/** What a log tells, run by run; at most about `limit` characters of notes are kept of each. */
export async function readRuns(node: RunNode, limit: number): Promise<ToldRun[]> {
  const runner = await findRunner(node.agent);
  const stream = runner?.run.stream ?? { session_id: [], rules: [] };
  const runs: ToldRun[] = [];
  let current: { told: ToldRun; result: RunResult; size: number; pieces: string } | undefined;
  const open = (prompt: string) => {
    finish();
    const told: ToldRun = { prompt, notes: [], passed: 0, result: "", failure: null };
    current = { told, result: new RunResult(stream), size: 0, pieces: "" };
  };
  const finish = () => {
    if (!current) return;
    const { told, result } = current;
    told.result = result.text;
    told.failure = result.failure;
    // The last thing that it said is the result.
    if (told.notes.at(-1) === noteOf({ kind: "message", text: result.text })) told.notes.pop();
    runs.push(told);
    current = undefined;
  };
  const lines = new LineSplitter({
    line(value) {
      const start = startOf(value);
      if (start) return open(start.prompt);
      if (!current) open(node.prompt);
      if (!current) return;
      for (const moment of current.result.take(value)) {
        if (moment.kind === "delta") {
          current.pieces = shorten(current.pieces + moment.text, 2 * LONGEST_NOTE);
          continue;
        }
        // A message that came in pieces is told whole once something else follows.
        const pieces = moment.kind === "message" ? "" : current.pieces;
        current.pieces = "";
        if (pieces !== "" && moment.kind !== "end") current.told.notes.push(`Agent: ${cut(pieces, LONGEST_NOTE)}`);
        const note = noteOf(moment);
        if (note === null) continue;
        current.told.notes.push(note);
        current.size += note.length;
        while (current.size > limit && current.told.notes.length > 1) {
          current.size -= current.told.notes.shift()?.length ?? 0;
          current.told.passed++;
        }
      }
    },
    tooLong() {},
    other(bytes) {
      if (bytes.toString("latin1") === SEPARATOR) finish();
    },
  });
  readChunks(node.path, (chunk) => lines.push(chunk));
  lines.end();
  finish();
  return runs;
}

function noteOf(moment: Moment): string | null {
  switch (moment.kind) {
    case "message":
      return `Agent: ${cut(moment.text, LONGEST_NOTE)}`;
    case "tool":
      return `Tool ${moment.name || "(unnamed)"}: ${cut(JSON.stringify(moment.input) ?? "", LONGEST_INPUT)}`;
    case "failure":
      return `Error: ${cut(moment.text, LONGEST_NOTE)}`;
    default:
      return null;
  }
}

function readChunks(path: string, take: (chunk: Buffer) => void): void {
  const fd = openSync(path, "r");
  const buffer = Buffer.alloc(CHUNK);
  try {
    for (;;) {
      const size = readSync(fd, buffer, 0, CHUNK, null);
      if (size === 0) return;
      take(buffer.subarray(0, size));
    }
  } finally {
    closeSync(fd);
  }
}
