/**
 * A conversation cut at an entry, as a new session that Droid finds by itself. It works on bytes; only the first line,
 * which says whose conversation it is, is written anew.
 */
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { isInside } from "../../base/paths.ts";
import { asBuffer, completeLines, completeLinesBackwards, endOfLines, parseLine } from "../../transcripts/lines.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../agent.ts";
import { addedId, addedLine, demandId, forkDirectory, forkTitle } from "../fork.ts";
import { isRecord, type Profile } from "../profile.ts";
import { resumeCommand } from "../resume.ts";
import { Chain } from "./chain.ts";
import { promptOf, readLine } from "./lines.ts";
import { projectDirectoryName } from "./places.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createForker(profile: Profile): TranscriptForker {
  return {
    fork: (request) => fork(request, profile.transcript?.title_prefix ?? ""),
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

function fork(request: ForkRequest, prefix: string): ForkResult {
  const sessionId = request.newSessionId;
  demandId(sessionId, UUID, "Droid session");
  const transcriptPath = join(forkDirectory(request, projectDirectoryName(request.projectRoot)), `${sessionId}.jsonl`);
  const bytes = asBuffer(request.bytes);
  const first = bytes.indexOf(10);
  const head = first < 0 ? undefined : parseLine(bytes, { start: 0, end: first });
  const end = wholeEnd(bytes, endOfEntry(bytes, request.lastId));
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

/** Behind the line of entry `id`; behind the last complete line where there is no such entry. */
function endOfEntry(bytes: Buffer, id: string | null): number {
  if (id !== null) {
    for (const line of completeLinesBackwards(bytes)) {
      const read = readLine(bytes, line);
      if (read?.type === "message" && read.id === id) return line.end + 1;
    }
  }
  return endOfLines(bytes);
}

/** The last place up to `end` where the conversation is whole; 0 where nobody has said anything. */
function wholeEnd(bytes: Buffer, end: number): number {
  const upTo = bytes.subarray(0, end);
  const start = lastPromptStart(upTo);
  if (start === null) return 0;
  const chain = new Chain();
  let whole = start;
  for (const line of completeLines(upTo, start)) {
    const read = readLine(upTo, line);
    if (read !== null && chain.add(read)) whole = line.end + 1;
  }
  return whole;
}

/** Everything before a prompt is whole; so is what a compaction left. */
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
    title: forkTitle(request.title, prefix),
    ...(moved ? { cwd: request.projectRoot } : {}),
    // Otherwise Droid finds a title of its own.
    isSessionTitleManuallySet: true,
  };
}
