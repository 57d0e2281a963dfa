/**
 * A conversation cut at an entry, as a new session that Claude Code finds by itself. It works on bytes: a
 * transcript of 100 MB is copied, not parsed.
 */
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import {
  asBuffer,
  completeLines,
  completeLinesBackwards,
  endOfLines,
  parseLine,
  startsWith,
} from "../../transcripts/lines.ts";
import { withValue } from "../../transcripts/replacement.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../agent.ts";
import { addedId, addedLine, demandId, forkDirectory, forkTitle } from "../fork.ts";
import { isRecord, type Profile } from "../profile.ts";
import { resumeCommand } from "../resume.ts";
import { Chain, isPrompt } from "./chain.ts";
import { mayBeChain, readChainLine, toChainLine } from "./lines.ts";
import { projectDirectoryName } from "./places.ts";

const ID_KEYS = ["sessionId", "session_id"];

export function createForker(profile: Profile): TranscriptForker {
  return {
    fork: (request) => fork(request, profile.transcript?.title_prefix ?? ""),
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

function fork(request: ForkRequest, prefix: string): ForkResult {
  const sessionId = request.newSessionId;
  demandId(sessionId, /^[A-Za-z0-9-]{1,64}$/, "Claude Code session");
  const transcriptPath = join(forkDirectory(request, projectDirectoryName(request.projectRoot)), `${sessionId}.jsonl`);
  const bytes = asBuffer(request.bytes);
  const end = wholeEnd(bytes, endOfEntry(bytes, request.lastId));
  if (end === 0) return { sessionId, transcriptPath, content: new Uint8Array(0) };

  const parts = withoutFileHistory(bytes.subarray(0, end));
  const old = ownSessionId(bytes, end);
  const kept = old === null || old === sessionId ? parts : withValue(parts, ID_KEYS, old, sessionId);
  const titleLine = { type: "custom-title", customTitle: forkTitle(request.title, prefix), sessionId };
  const title = Buffer.from(`${JSON.stringify(titleLine)}\n`);
  const account = request.account ? accountLine(bytes.subarray(0, end), request, request.account) : null;
  const content = Buffer.concat([...kept, ...(account ? [account] : []), title]);
  return { sessionId, transcriptPath, content, told: account !== null };
}

/** A prompt behind the last line of the conversation, with what Claude Code says in every line of it. */
function accountLine(bytes: Buffer, request: ForkRequest, account: string): Buffer | null {
  for (const at of completeLinesBackwards(bytes)) {
    const value = mayBeChain(bytes, at) ? parseLine(bytes, at) : null;
    const line = toChainLine(value);
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

/** Behind the line of entry `id`; behind the last complete line where there is no such entry. */
function endOfEntry(bytes: Buffer, id: string | null): number {
  const needle = id === null ? null : Buffer.from(`"uuid":${JSON.stringify(id)}`);
  let at = needle === null ? -1 : bytes.lastIndexOf(needle);
  while (needle !== null && at >= 0) {
    const start = at === 0 ? 0 : bytes.lastIndexOf(10, at - 1) + 1;
    const end = bytes.indexOf(10, at);
    if (end >= 0 && readChainLine(bytes, { start, end })?.uuid === id) return end + 1;
    at = start === 0 ? -1 : bytes.lastIndexOf(needle, start - 1);
  }
  return endOfLines(bytes);
}

/** The last place up to `end` where the conversation is whole. Everything before a prompt is. */
function wholeEnd(bytes: Buffer, end: number): number {
  const upTo = bytes.subarray(0, end);
  const chain = new Chain();
  let whole = 0;
  for (const line of completeLines(upTo, lastPromptStart(upTo))) {
    const read = mayBeChain(upTo, line) ? readChainLine(upTo, line) : null;
    if (read !== null && !read.sidechain && chain.add(read)) whole = line.end + 1;
  }
  return whole;
}

function lastPromptStart(bytes: Buffer): number {
  for (const line of completeLinesBackwards(bytes)) {
    if (!mayBeChain(bytes, line)) continue;
    const read = readChainLine(bytes, line);
    if (read !== null && !read.sidechain && isPrompt(read)) return line.start;
  }
  return 0;
}

const FILE_HISTORY = Buffer.from('{"type":"file-history-');

/** Claude Code's own backups of files belong to the old session; without them it must not offer them. */
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

/** The id under which the last lines were written. */
function ownSessionId(bytes: Buffer, end: number): string | null {
  for (const line of completeLinesBackwards(bytes.subarray(0, end))) {
    const value = parseLine(bytes, line);
    if (isRecord(value) && typeof value["sessionId"] === "string") return value["sessionId"];
  }
  return null;
}
