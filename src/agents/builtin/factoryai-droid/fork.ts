/**
 * Forks a conversation at an entry into a new session that Droid finds by itself. Works on bytes, and rewrites only the
 * first line, which identifies the session.
 */
import { join } from "node:path";
import { now } from "../../../base/clock.ts";
import { isRecord } from "../../../base/json.ts";
import { isInside } from "../../../base/paths.ts";
import { asBuffer, completeLinesBackwards, endOfLines, parseLine } from "../../../transcripts/lines.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { addedId, addedLine, demandId, forkDirectory, forkerOf, forkTitle } from "../../shared/fork.ts";
import { CutPoints } from "../../shared/transcript/cut-points.ts";
import { projectDirectoryName } from "./paths.ts";
import { promptOf, readEntries, readLine } from "./transcript.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createForker(profile: Profile): TranscriptForker {
  return forkerOf(profile, fork);
}

function fork(request: ForkRequest, prefix: string): ForkResult {
  const sessionId = request.newSessionId;
  demandId(sessionId, UUID, "Droid session");
  const transcriptPath = join(forkDirectory(request, projectDirectoryName(request.projectRoot)), `${sessionId}.jsonl`);
  const bytes = asBuffer(request.bytes);
  const first = bytes.indexOf(10);
  const head = first < 0 ? undefined : parseLine(bytes, { start: 0, end: first });
  const end = cutUpTo(bytes, endOfEntry(bytes, request.lastId));
  if (!isRecord(head) || head["type"] !== "session_start" || end <= first + 1) {
    return { sessionId, transcriptPath, content: new Uint8Array(0) };
  }
  const line = Buffer.from(`${JSON.stringify(newHead(head, request, prefix))}\n`);
  const kept = bytes.subarray(first + 1, end);
  const account = request.account ? [accountLine(kept, request, request.account)] : [];
  return {
    sessionId,
    transcriptPath,
    content: Buffer.concat([line, kept, ...account]),
    told: account.length > 0,
  };
}

function accountLine(bytes: Buffer, request: ForkRequest, account: string): Buffer {
  let parentId: string | undefined;
  for (const at of completeLinesBackwards(bytes)) {
    const line = readLine(bytes, at);
    if (line?.type === "message") parentId = line.id;
    if (parentId !== undefined) break;
  }
  return addedLine({
    type: "message",
    id: addedId(request, account),
    parentId,
    timestamp: now().toISOString(),
    message: { role: "user", content: [{ type: "text", text: account }] },
  });
}

/** The offset after the line of entry `id`, or after the last complete line if there is no such entry. */
function endOfEntry(bytes: Buffer, id: string | null): number {
  if (id !== null) {
    for (const line of completeLinesBackwards(bytes)) {
      const read = readLine(bytes, line);
      if (read?.type === "message" && read.id === id) return line.end + 1;
    }
  }
  return endOfLines(bytes);
}

/**
 * The last offset up to `end` at which every tool use has its result; 0 if the conversation is empty. Unlike the end of
 * a turn, a fork may end with a line that only the user sees.
 */
function cutUpTo(bytes: Buffer, end: number): number {
  const kept = bytes.subarray(0, end);
  const start = lastPromptStart(kept);
  if (start === null) return 0;
  const cuts = new CutPoints();
  let cut = start;
  for (const entry of readEntries(kept, start)) if (cuts.add(entry.items)) cut = entry.end + 1;
  return cut;
}

/** The conversation can be cut before a prompt, and before a compaction. */
function lastPromptStart(bytes: Buffer): number | null {
  for (const line of completeLinesBackwards(bytes)) {
    const read = readLine(bytes, line);
    if (read?.type === "compaction") return line.start;
    if (read?.type === "message" && promptOf(read) !== null) return line.start;
  }
  return null;
}

function newHead(head: Record<string, unknown>, request: ForkRequest, prefix: string): Record<string, unknown> {
  const { cwd } = head;
  const moved = typeof cwd === "string" && !isInside(request.projectRoot, cwd);
  return {
    ...head,
    id: request.newSessionId,
    title: forkTitle(request, prefix),
    ...(moved ? { cwd: request.projectRoot } : {}),
    // Otherwise Droid generates a title.
    isSessionTitleManuallySet: true,
  };
}
