/**
 * A conversation cut at an entry, as a new thread that Codex finds by itself: a rollout of its own, beside the
 * original. It works on bytes; the lines keep their numbers, which Codex counts on from. A title it can't have:
 * Codex takes that from the first prompt, and a name that its user gives from a database of its own.
 */
import { dirname, join } from "node:path";
import { now } from "../../base/clock.ts";
import { isInside } from "../../base/paths.ts";
import { asBuffer, completeLines, completeLinesBackwards, endOfLines, parseLine } from "../../transcripts/lines.ts";
import { withValue } from "../../transcripts/replacement.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../agent.ts";
import { addedId, addedLine, demandId } from "../fork.ts";
import { isRecord, type Profile } from "../profile.ts";
import { resumeCommand } from "../resume.ts";
import { Chain } from "./chain.ts";
import { readLine } from "./lines.ts";

/** Codex takes nothing else for a thread's id; a word would quietly begin a new thread. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const ID_KEYS = ["thread_id", "session_id", "sender_thread_id"];

export function createForker(profile: Profile): TranscriptForker {
  return {
    fork,
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

function fork(request: ForkRequest): ForkResult {
  const sessionId = request.newSessionId;
  demandId(sessionId, UUID, "Codex thread");
  const transcriptPath = join(dirname(request.transcriptPath), `rollout-${fileTime(now())}-${sessionId}.jsonl`);
  const nothing = { sessionId, transcriptPath, content: new Uint8Array(0) };
  const bytes = asBuffer(request.bytes);
  const first = bytes.indexOf(10);
  const meta = first < 0 ? undefined : parseLine(bytes, { start: 0, end: first });
  if (!isRecord(meta) || meta["type"] !== "session_meta" || !isRecord(meta["payload"])) return nothing;

  const end = wholeEnd(bytes, endOfEntry(bytes, request.lastId));
  // What a fork of Codex's own has behind it lies in another file, and its own first turn may be the one to go.
  const isContinuation = isRecord(meta["payload"]["history_base"]);
  if (!isContinuation && !hasBegun(bytes.subarray(0, end))) return nothing;

  const old = meta["payload"]["id"];
  const kept = bytes.subarray(first + 1, Math.max(end, first + 1));
  const parts = [
    Buffer.from(`${JSON.stringify({ ...meta, payload: newMeta(meta["payload"], request) })}\n`),
    ...(typeof old === "string" ? withValue([kept], ID_KEYS, old, sessionId) : [kept]),
  ];
  if (request.account) parts.push(accountLine(bytes.subarray(0, end), request, request.account));
  return { sessionId, transcriptPath, content: Buffer.concat(parts), told: Boolean(request.account) };
}

/** What the model is sent, without a turn of its own: nothing is to be answered. */
function accountLine(bytes: Buffer, request: ForkRequest, account: string): Buffer {
  let last: string | null = null;
  for (const line of completeLinesBackwards(bytes)) {
    last = ordinalOf(bytes, line);
    if (last !== null) break;
  }
  const content = [{ type: "input_text", text: account }];
  return addedLine({
    timestamp: now().toISOString(),
    ...(last === null ? {} : { ordinal: Number(last) + 1 }),
    type: "response_item",
    payload: { type: "message", id: `msg_${addedId(request, account)}`, role: "user", content },
  });
}

/** Behind the line of entry `id`; behind the last complete line where there is no such entry. */
function endOfEntry(bytes: Buffer, id: string | null): number {
  if (id !== null) {
    for (const line of completeLinesBackwards(bytes)) {
      if (ordinalOf(bytes, line) === id) return line.end + 1;
    }
  }
  return endOfLines(bytes);
}

/** The last place up to `end` where the conversation is whole. Everything before a turn is. */
function wholeEnd(bytes: Buffer, end: number): number {
  const upTo = bytes.subarray(0, end);
  const chain = new Chain();
  const start = lastTurnStart(upTo);
  let whole = start;
  for (const line of completeLines(upTo, start)) {
    const read = readLine(upTo, line);
    if (read !== null && chain.add(read.content)) whole = line.end + 1;
  }
  return whole;
}

function hasBegun(bytes: Buffer): boolean {
  for (const line of completeLines(bytes)) {
    const type = readLine(bytes, line)?.content.type;
    if (type === "prompt" || type === "task" || type === "answer") return true;
  }
  return false;
}

function lastTurnStart(bytes: Buffer): number {
  for (const line of completeLinesBackwards(bytes)) {
    if (readLine(bytes, line)?.content.type === "turn-start") return line.start;
  }
  return 0;
}

function ordinalOf(bytes: Buffer, line: { start: number; end: number }): string | null {
  const head = bytes.toString("latin1", line.start, Math.min(line.end, line.start + 100));
  return /^\{"timestamp":"[^"]*","ordinal":(\d+),/.exec(head)?.[1] ?? null;
}

/** The old id left in here would make Codex write into the old thread. */
function newMeta(payload: Record<string, unknown>, request: ForkRequest): Record<string, unknown> {
  const id = request.newSessionId;
  const { cwd } = payload;
  const moved = typeof cwd === "string" && !isInside(request.projectRoot, cwd);
  const place = moved ? { cwd: request.projectRoot, runtime_workspace_roots: [request.projectRoot] } : {};
  return { ...payload, ...place, session_id: id, id };
}

/** As Codex names its files: local time, hyphens throughout. */
function fileTime(time: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  return `${date}T${[two(time.getHours()), two(time.getMinutes()), two(time.getSeconds())].join("-")}`;
}
