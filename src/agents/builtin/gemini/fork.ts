/** Forks a conversation at an entry into a new session that Gemini CLI finds by itself. */
import { join } from "node:path";
import { now } from "../../../base/clock.ts";
import { isRecord } from "../../../base/json.ts";
import { asBuffer } from "../../../transcripts/lines.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { addedId, demandId, forkerOf, forkTitle } from "../../shared/fork.ts";
import { userCommand } from "../../shared/resume.ts";
import { CutPoints } from "../../shared/transcript/cut-points.ts";
import { chatsDirectory, isFoundFrom } from "./paths.ts";
import { type Message, ownResult, readRecords } from "./records.ts";
import { canCutAfter, hasContext, isContext } from "./transcript.ts";

export function createForker(profile: Profile): TranscriptForker {
  return forkerOf(profile, fork);
}

function fork(request: ForkRequest, prefix: string): ForkResult {
  const sessionId = request.newSessionId;
  demandId(sessionId, /^[0-9a-z]{8}-[0-9a-z-]{0,40}[0-9a-z]{8}$/i, "Gemini CLI session");
  const transcriptPath = join(chatsDirectory(request.transcriptPath, request.projectRoot), fileName(sessionId));
  // Gemini CLI finds no sessions in a directory where it never ran, but it accepts a file path.
  const isKnown = isFoundFrom(transcriptPath, request.projectRoot);
  const place = {
    sessionId,
    transcriptPath,
    ...(isKnown ? {} : { command: userCommand(["gemini", "--session-file", transcriptPath]) }),
  };
  const { fields, messages } = readHistory(request.bytes);
  const kept = cutUpTo(messages, request.lastId);
  if (!kept.some((message) => message.type === "gemini" || message.toolCalls.length > 0)) {
    return { ...place, content: new Uint8Array(0) };
  }
  const time = now().toISOString();
  const header = {
    sessionId,
    projectHash: fields["projectHash"] ?? "",
    startTime: time,
    lastUpdated: time,
    kind: "main",
    summary: forkTitle(request, prefix),
    ...(Array.isArray(fields["directories"]) ? { directories: fields["directories"] } : {}),
  };
  const { account } = request;
  const added = account
    ? [{ id: addedId(request, account), timestamp: time, type: "user", content: [{ text: account }] }]
    : [];
  const lines = [header, ...withoutRepetitions(kept), ...added].map((line) => `${JSON.stringify(line)}\n`);
  return { ...place, content: Buffer.from(lines.join("")), told: added.length > 0 };
}

/**
 * When Gemini CLI deletes an empty session, it deletes all files whose names end in the same eight characters, and
 * every resume leaves an empty session. So a fork's name ends in other characters, and never equals a name made by a
 * resume.
 */
function fileName(sessionId: string): string {
  return `session-${sessionId.slice(0, 8)}-${sessionId.slice(-8)}.jsonl`;
}

/** The conversation as Gemini CLI itself would read it from the transcript. */
interface History {
  /** The session's fields: id, project, directories. */
  fields: Record<string, unknown>;
  messages: Message[];
}

function readHistory(bytes: Uint8Array): History {
  const buffer = asBuffer(bytes);
  let fields: Record<string, unknown> = {};
  let messages = new Map<string, Message>();
  let begins = false;
  for (const [record] of readRecords(buffer)) {
    if (record.kind === "message") messages.set(record.message.id, record.message);
    else if (record.kind === "rewind") messages = withoutTail(messages, record.id);
    else if (record.kind !== "repetition") fields = { ...fields, ...record.fields };
    // A session resumed within its first minute writes the start of a new session into its transcript.
    if (record.kind === "set" && record.messages && !(begins && record.messages.every(hasContext))) {
      messages = new Map(record.messages.map((message) => [message.id, message]));
    }
    begins = record.kind === "header";
  }
  return { fields, messages: [...messages.values()] };
}

/** The messages up to the last cut point at or before the entry; without such an entry, before the end. */
function cutUpTo(messages: readonly Message[], lastId: string | null): Message[] {
  const at = lastId === null ? -1 : messages.findLastIndex((message) => message.id === lastId);
  const kept = at < 0 ? messages : messages.slice(0, at + 1);
  const cuts = new CutPoints();
  const lastCut = kept.map((message) => canCutAfter(message, cuts)).lastIndexOf(true);
  return kept.slice(0, lastCut + 1);
}

/**
 * Removes duplicates. Gemini CLI sends the environment context again at every start, and reads a call's results both
 * from the call and from the message that contains them.
 */
function withoutRepetitions(messages: readonly Message[]): Record<string, unknown>[] {
  const answered = new Set<string>();
  return messages.flatMap((message) => {
    for (const call of message.toolCalls) if (call.result !== null) answered.add(call.id);
    if (message.type !== "user") return [withOwnResults(message.native)];
    const content = message.native["content"];
    if (!Array.isArray(content) || content.length !== message.parts.length)
      return hasContext(message) ? [] : [message.native];
    const kept = content.filter((_, index) => {
      const part = message.parts[index];
      if (part?.type === "text") return !isContext(part.text);
      if (part?.type !== "response" || part.id === "") return true;
      const isNew = !answered.has(part.id);
      answered.add(part.id);
      return isNew;
    });
    return kept.length === 0 ? [] : [{ ...message.native, content: kept }];
  });
}

function withOwnResults(native: Message["native"]): Message["native"] {
  const calls = native["toolCalls"];
  if (!Array.isArray(calls)) return native;
  const own = calls.map((call: unknown) =>
    isRecord(call) && typeof call["id"] === "string"
      ? { ...call, result: ownResult(call["id"], call["result"]) }
      : call,
  );
  return { ...native, toolCalls: own };
}

function withoutTail(messages: Map<string, Message>, id: string): Map<string, Message> {
  const all = [...messages];
  const at = all.findIndex(([each]) => each === id);
  return new Map(all.slice(0, Math.max(0, at)));
}
