/**
 * Forks a conversation at an entry into a new session that Claude Code finds by itself. Works on bytes, so that a 100
 * MB transcript is copied without parsing it.
 */
import { join } from "node:path";
import { now } from "../../../base/clock.ts";
import { isRecord } from "../../../base/json.ts";
import {
  asBuffer,
  completeLines,
  completeLinesBackwards,
  endOfLines,
  parseLine,
  startsWith,
} from "../../../transcripts/lines.ts";
import { withValue } from "../../../transcripts/replace-json-values.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { addedId, addedLine, demandId, forkDirectory, forkerOf, forkTitle } from "../../shared/fork.ts";
import { lastCut } from "../../shared/transcript/cut-points.ts";
import { projectDirectoryName } from "./paths.ts";
import { isPrompt, mayBeMessage, readChain, readMessage, toMessage } from "./transcript.ts";

const ID_KEYS = ["sessionId", "session_id"];

export function createForker(profile: Profile): TranscriptForker {
  return forkerOf(profile, fork);
}

function fork(request: ForkRequest, prefix: string): ForkResult {
  const sessionId = request.newSessionId;
  demandId(sessionId, /^[A-Za-z0-9-]{1,64}$/, "Claude Code session");
  const transcriptPath = join(forkDirectory(request, projectDirectoryName(request.projectRoot)), `${sessionId}.jsonl`);
  const bytes = asBuffer(request.bytes);
  const end = cutUpTo(bytes, endOfEntry(bytes, request.lastId));
  if (end === 0) return { sessionId, transcriptPath, content: new Uint8Array(0) };

  const parts = withoutFileHistory(bytes.subarray(0, end));
  const old = ownSessionId(bytes, end);
  const kept = old === null || old === sessionId ? parts : withValue(parts, ID_KEYS, old, sessionId);
  const titleLine = { type: "custom-title", customTitle: forkTitle(request, prefix), sessionId };
  const title = Buffer.from(`${JSON.stringify(titleLine)}\n`);
  const account = request.account ? accountLine(bytes.subarray(0, end), request, request.account) : null;
  const content = Buffer.concat([...kept, ...(account ? [account] : []), title]);
  return { sessionId, transcriptPath, content, told: account !== null };
}

/** A prompt to append to the conversation, with the fields that Claude Code writes in every line. */
function accountLine(bytes: Buffer, request: ForkRequest, account: string): Buffer | null {
  for (const at of completeLinesBackwards(bytes)) {
    const value = mayBeMessage(bytes, at) ? parseLine(bytes, at) : null;
    const line = toMessage(value);
    if (!isRecord(value) || line === null || line.sidechain) continue;
    const { userType = "external", entrypoint, cwd, version, gitBranch } = value;
    return addedLine({
      parentUuid: line.uuid,
      isSidechain: false,
      type: "user",
      message: { role: "user", content: account },
      uuid: addedId(request, account),
      timestamp: now().toISOString(),
      ...{ userType, entrypoint, cwd, sessionId: request.newSessionId, version, gitBranch },
    });
  }
  return null;
}

/** The offset after the line of entry `id`, or after the last complete line if there is no such entry. */
function endOfEntry(bytes: Buffer, id: string | null): number {
  const needle = id === null ? null : Buffer.from(`"uuid":${JSON.stringify(id)}`);
  let at = needle === null ? -1 : bytes.lastIndexOf(needle);
  while (needle !== null && at >= 0) {
    const start = at === 0 ? 0 : bytes.lastIndexOf(10, at - 1) + 1;
    const end = bytes.indexOf(10, at);
    if (end >= 0 && readMessage(bytes, { start, end })?.uuid === id) return end + 1;
    at = start === 0 ? -1 : bytes.lastIndexOf(needle, start - 1);
  }
  return endOfLines(bytes);
}

/** The last cut point up to `end`. A conversation can always be cut before a prompt. */
function cutUpTo(bytes: Buffer, end: number): number {
  const kept = bytes.subarray(0, end);
  return lastCut(readChain(kept, lastPromptStart(kept), false), 0);
}

function lastPromptStart(bytes: Buffer): number {
  for (const line of completeLinesBackwards(bytes)) {
    if (!mayBeMessage(bytes, line)) continue;
    const read = readMessage(bytes, line);
    if (read !== null && !read.sidechain && isPrompt(read)) return line.start;
  }
  return 0;
}

const FILE_HISTORY = Buffer.from('{"type":"file-history-');

/** Claude Code's file backups belong to the old session, so the fork must not offer them. */
function withoutFileHistory(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (const line of completeLines(bytes)) {
    if (!startsWith(bytes, line, FILE_HISTORY)) continue;
    if (line.start > from) parts.push(bytes.subarray(from, line.start));
    from = line.end + 1;
  }
  if (from < bytes.length) parts.push(bytes.subarray(from));
  return parts;
}

/** The session id of the last lines. */
function ownSessionId(bytes: Buffer, end: number): string | null {
  for (const line of completeLinesBackwards(bytes.subarray(0, end))) {
    const value = parseLine(bytes, line);
    if (isRecord(value) && typeof value["sessionId"] === "string") return value["sessionId"];
  }
  return null;
}
