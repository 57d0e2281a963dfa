/** A conversation cut at an entry, as a new session that Gemini CLI finds by itself. */
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../agent.ts";
import { addedId, demandId, forkTitle } from "../fork.ts";
import type { Profile } from "../profile.ts";
import { resumeCommand } from "../resume.ts";
import { cutBehind, readHistory, withoutRepetitions } from "./history.ts";
import { chatsDirectory } from "./places.ts";

export function createForker(profile: Profile): TranscriptForker {
  return {
    fork: (request) => fork(request, profile.transcript?.title_prefix ?? ""),
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

function fork(request: ForkRequest, prefix: string): ForkResult {
  const sessionId = request.newSessionId;
  demandId(sessionId, /^[0-9a-z]{8}-[0-9a-z-]{0,40}[0-9a-z]{8}$/i, "Gemini CLI session");
  const transcriptPath = join(chatsDirectory(request.transcriptPath, request.projectRoot), fileName(sessionId));
  const { fields, messages } = readHistory(request.bytes);
  const kept = cutBehind(messages, request.lastId);
  if (!kept.some((message) => message.type === "gemini" || message.toolCalls.length > 0)) {
    return { sessionId, transcriptPath, content: new Uint8Array(0) };
  }
  const time = now().toISOString();
  const header = {
    sessionId,
    projectHash: fields["projectHash"] ?? "",
    startTime: time,
    lastUpdated: time,
    kind: "main",
    summary: forkTitle(request.title, prefix),
    ...(Array.isArray(fields["directories"]) ? { directories: fields["directories"] } : {}),
  };
  const { account } = request;
  const added = account
    ? [{ id: addedId(request, account), timestamp: time, type: "user", content: [{ text: account }] }]
    : [];
  const lines = [header, ...withoutRepetitions(kept), ...added].map((line) => `${JSON.stringify(line)}\n`);
  return { sessionId, transcriptPath, content: Buffer.from(lines.join("")), told: added.length > 0 };
}

/**
 * Gemini CLI deletes, with an empty session, all files whose name ends in the same eight characters, and it leaves an
 * empty one behind at every resume. So a fork's name ends in others, and never is the name that a resume makes.
 */
function fileName(sessionId: string): string {
  return `session-${sessionId.slice(0, 8)}-${sessionId.slice(-8)}.jsonl`;
}
