/**
 * Forks a conversation at an entry into a new thread that Codex finds by itself: a separate rollout next to the
 * original. Works on bytes. Lines keep their numbers, and Codex continues counting from them. The fork can't have a
 * title: Codex derives titles from the first prompt, and keeps names that the user gives in its database.
 */
import { dirname, join } from "node:path";
import { now } from "../../../base/clock.ts";
import { isRecord } from "../../../base/json.ts";
import { isInside } from "../../../base/paths.ts";
import { asBuffer, completeLines, completeLinesBackwards, endOfLines, parseLine } from "../../../transcripts/lines.ts";
import { withValue } from "../../../transcripts/replace-json-values.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { addedId, addedLine, demandId } from "../../shared/fork.ts";
import { resumeCommand } from "../../shared/resume.ts";
import { lastCut } from "../../shared/transcript/cut-points.ts";
import { fileTime } from "./paths.ts";
import { readEntries, readLine } from "./transcript.ts";

/** Codex accepts only a UUID as a thread id; any other word silently starts a new thread. */
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

  const end = cutUpTo(bytes, endOfEntry(bytes, request.lastId));
  // The history of a fork made by Codex is in another file, so even its first turn may be cut.
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

/** A message to the model without a turn, because it needs no answer. */
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

/** The offset after the line of entry `id`, or after the last complete line if there is no such entry. */
function endOfEntry(bytes: Buffer, id: string | null): number {
  if (id !== null) {
    for (const line of completeLinesBackwards(bytes)) {
      if (ordinalOf(bytes, line) === id) return line.end + 1;
    }
  }
  return endOfLines(bytes);
}

/** The last cut point up to `end`. A conversation can always be cut before a turn. */
function cutUpTo(bytes: Buffer, end: number): number {
  const kept = bytes.subarray(0, end);
  const start = lastTurnStart(kept);
  return lastCut(readEntries(kept, start), start);
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

/** Replaces the old id; otherwise Codex would write to the old thread. */
function newMeta(payload: Record<string, unknown>, request: ForkRequest): Record<string, unknown> {
  const id = request.newSessionId;
  const { cwd } = payload;
  const moved = typeof cwd === "string" && !isInside(request.projectRoot, cwd);
  const place = moved ? { cwd: request.projectRoot, runtime_workspace_roots: [request.projectRoot] } : {};
  return { ...payload, ...place, session_id: id, id };
}
