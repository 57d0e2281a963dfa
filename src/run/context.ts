/**
 * Builds the summary of earlier sessions that a resumed session receives, from their logs: prompts, actions and
 * results. The summary has a size limit and states what it omits.
 */
import { shorten } from "../base/text.ts";
import { readLog } from "./log/read.ts";
import type { RunNode } from "./log/tree.ts";
import type { StreamEvent } from "./result.ts";

/** In characters. A single argument is limited to 128 KiB. */
const MAX_CONTEXT = 60_000;
/** The last sessions are omitted if each would get less than this. */
const MIN_SHARE = 1_500;
const MAX_NOTE = 1_000;
const MAX_INPUT = 300;

/** One prompt with the actions and the result that followed. */
interface RunRecord {
  prompt: string;
  notes: string[];
  /** The number of earlier notes that were dropped. */
  passed: number;
  result: string;
  failure: string | null;
}

interface ToldSession {
  node: RunNode;
  depth: number;
  parent: string | null;
  runs: RunRecord[];
}

/** Covers the session alone, or also all of its descendants. */
export async function contextOf(node: RunNode, withTree: boolean, limit = MAX_CONTEXT): Promise<string> {
  const nodes = withTree ? inOrder(node, 0, null) : [{ node, depth: 0, parent: null }];
  const room = Math.max(1, Math.min(nodes.length, Math.floor(limit / MIN_SHARE)));
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

function runText(run: RunRecord, share: number): string[] {
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
    ...(run.failure === null ? [] : [`It failed: ${cut(run.failure, MAX_NOTE)}`]),
    `Result: ${result === "" ? "(none)" : result}`,
  ];
}

/** Shortens the text and states how many characters are omitted. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${shorten(text, length)} [${text.length - length} more characters are left out.]`;
}

/** Reads a log run by run, and keeps at most about `limit` characters of notes per run. */
async function readRuns(node: RunNode, limit: number): Promise<RunRecord[]> {
  const runs: RunRecord[] = [];
  let run: RunRecord = { prompt: "", notes: [], passed: 0, result: "", failure: null };
  let size = 0;
  let pieces = "";
  const add = (note: string) => {
    run.notes.push(note);
    size += note.length;
    while (size > limit && run.notes.length > 1) {
      size -= run.notes.shift()?.length ?? 0;
      run.passed++;
    }
  };
  await readLog(node, {
    run(start) {
      run = { prompt: start?.prompt ?? node.prompt, notes: [], passed: 0, result: "", failure: null };
      size = 0;
      pieces = "";
    },
    moment(moment) {
      if (moment.kind === "delta") {
        pieces = shorten(pieces + moment.text, 2 * MAX_NOTE);
        return;
      }
      // A message that arrived in pieces becomes one note once something else follows.
      if (pieces !== "" && moment.kind !== "message" && moment.kind !== "end") add(`Agent: ${cut(pieces, MAX_NOTE)}`);
      pieces = "";
      const note = noteOf(moment);
      if (note !== null) add(note);
    },
    end(result) {
      run.result = result.text;
      run.failure = result.failure;
      // The last message is already the result.
      if (run.notes.at(-1) === noteOf({ kind: "message", text: result.text })) run.notes.pop();
      runs.push(run);
    },
  });
  return runs;
}

function noteOf(moment: StreamEvent): string | null {
  switch (moment.kind) {
    case "message":
      return `Agent: ${cut(moment.text, MAX_NOTE)}`;
    case "tool":
      return `Tool ${moment.name || "(unnamed)"}: ${cut(JSON.stringify(moment.input) ?? "", MAX_INPUT)}`;
    case "failure":
      return `Error: ${cut(moment.text, MAX_NOTE)}`;
    default:
      return null;
  }
}
