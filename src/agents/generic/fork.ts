/**
 * A conversation cut and copied under a new session id, for agents that keep each session in one JSONL file named by
 * its id and read it again to continue. Lines stay as they were written, but for the id and the title.
 */
import { dirname, extname, join, parse, sep } from "node:path";
import { asBuffer, completeLines, type Line, parseLine } from "../../transcripts/lines.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../agent.ts";
import { demandId, forkTitle } from "../fork.ts";
import { textAt, valueAt } from "../paths.ts";
import type { Profile } from "../profile.ts";
import { resumeCommand } from "../resume.ts";
import { type Description, readLine } from "./items.ts";
import { withText } from "./rewrite.ts";
import { Wholeness } from "./wholeness.ts";

export function createForker(profile: Profile, description: Description): TranscriptForker {
  return {
    fork: (request) => fork(request, description, profile.transcript?.title_prefix ?? ""),
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

function fork(request: ForkRequest, description: Description, prefix: string): ForkResult {
  const { newSessionId: sessionId } = request;
  demandId(sessionId, /^[A-Za-z0-9-]{1,64}$/, "session");
  const bytes = asBuffer(request.bytes);
  const kept = bytes.subarray(0, cutBehind(bytes, request.lastId, description));
  const oldId = ownSessionId(kept, description) ?? parse(request.transcriptPath).name;
  const transcriptPath = pathFor(request.transcriptPath, oldId, sessionId);
  const title = forkTitle(request, prefix);
  const parts = [...completeLines(kept)].map((at) => renewed(kept, at, description, { oldId, sessionId, title }));
  return { sessionId, transcriptPath, content: Buffer.concat(parts) };
}

/** Behind the last line, up to the one with that id, where the conversation is whole. */
function cutBehind(bytes: Buffer, lastId: string | null, description: Description): number {
  const wholeness = new Wholeness();
  let whole = 0;
  let wholeAtId: number | null = null;
  for (const at of completeLines(bytes)) {
    const line = readLine(parseLine(bytes, at), description);
    if (!line || wholeness.add(line)) whole = at.end + 1;
    if (lastId !== null && line?.id === lastId) wholeAtId = whole;
  }
  return wholeAtId ?? whole;
}

function ownSessionId(bytes: Buffer, { lines }: Description): string | null {
  if (!lines.session_id) return null;
  for (const at of completeLines(bytes)) {
    const id = textAt(parseLine(bytes, at), lines.session_id);
    if (id !== null) return id;
  }
  return null;
}

/** The same place under the new id: in the file's name or its directory's, wherever the old one stands. */
function pathFor(path: string, oldId: string, sessionId: string): string {
  const names = path.split(sep);
  const at = names.findLastIndex((name) => name.includes(oldId));
  const isNamed = oldId !== "" && at >= names.length - 2 && at > 0;
  if (!isNamed) return join(dirname(path), `${sessionId}${extname(path)}`);
  return names.map((name, i) => (i >= names.length - 2 ? name.replaceAll(oldId, sessionId) : name)).join(sep);
}

interface Renewal {
  oldId: string;
  sessionId: string;
  title: string;
}

function renewed(bytes: Buffer, at: Line, { lines }: Description, { oldId, sessionId, title }: Renewal): Buffer {
  const line = bytes.subarray(at.start, at.end + 1);
  const value = parseLine(bytes, at);
  const changes: [path: string, text: string][] = [];
  for (const path of lines.session_id ?? []) if (valueAt(value, path) === oldId) changes.push([path, sessionId]);
  const titlePath = lines.title?.find((path) => typeof valueAt(value, path) === "string");
  if (titlePath !== undefined) changes.push([titlePath, title]);
  if (changes.length === 0) return line;
  let text = bytes.toString("utf8", at.start, at.end);
  for (const [path, replacement] of changes) text = withText(text, path, replacement);
  return Buffer.from(`${text}\n`);
}
