/**
 * A branch cut at an entry, as a new session that Pi finds by itself: a header of its own, and the entries from the root
 * to there as they are. Other branches stay behind.
 */
import { resolve } from "node:path";
import { now } from "../../base/clock.ts";
import { hexDigest } from "../../base/digest.ts";
import { isInside } from "../../base/paths.ts";
import { asBuffer, type Line } from "../../transcripts/lines.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../agent.ts";
import { addedLine, demandId, forkTitle } from "../fork.ts";
import type { Profile } from "../profile.ts";
import { quoted, resumeCommand } from "../resume.ts";
import { branchTo } from "./branch.ts";
import { Chain } from "./chain.ts";
import { type PiEntry, readEntry, readHeader } from "./lines.ts";
import { fileName, sessionDirectory } from "./places.ts";

const VERSION = 3;

export function createForker(profile: Profile): TranscriptForker {
  return {
    branching: true,
    fork: (request) => fork(request, profile.transcript?.title_prefix ?? ""),
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

function fork(request: ForkRequest, prefix: string): ForkResult {
  const { newSessionId: sessionId, projectRoot } = request;
  demandId(sessionId, /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/, "Pi session");
  const bytes = asBuffer(request.bytes);
  const header = readHeader(bytes);
  const cwd = directoryFor(header?.["cwd"], projectRoot);
  const time = now();
  const transcriptPath = `${sessionDirectory(request.transcriptPath, cwd)}/${fileName(sessionId, time)}`;
  // By its id alone, Pi finds sessions of the directory that it is started in.
  const command = cwd === projectRoot ? undefined : `pi --session ${quoted(transcriptPath)}`;
  const place = { sessionId, transcriptPath, ...(command === undefined ? {} : { command }) };

  const kept = wholePart(bytes, branchTo(bytes, request.lastId));
  if (header === null || kept === null) return { ...place, content: new Uint8Array(0) };
  const timestamp = time.toISOString();
  const { parentSession: _, ...known } = header;
  const parentSession = request.transcriptPath;
  const account = request.account ? accountEntry(request, kept.lastId, time, request.account) : null;
  const title = {
    type: "session_info",
    id: entryId(sessionId, kept.lastId),
    parentId: account?.id ?? kept.lastId,
    timestamp,
    name: forkTitle(request.title, prefix),
  };
  const content = Buffer.concat([
    addedLine({ ...known, version: known["version"] ?? VERSION, id: sessionId, timestamp, cwd, parentSession }),
    ...kept.lines.map(({ start, end }) => bytes.subarray(start, end + 1)),
    ...(account ? [addedLine(account)] : []),
    addedLine(title),
  ]);
  return { ...place, content, told: account !== null };
}

function accountEntry({ newSessionId }: ForkRequest, parentId: string, time: Date, text: string) {
  return {
    type: "message",
    id: entryId(newSessionId, `${parentId}\0${text}`),
    parentId,
    timestamp: time.toISOString(),
    message: { role: "user", content: [{ type: "text", text }], timestamp: time.getTime() },
  };
}

/** Eight hexadecimal digits, as Pi's own. */
function entryId(sessionId: string, seed: string): string {
  return hexDigest("sha256", `${sessionId}\0${seed}`).slice(0, 8);
}

/** The branch up to the last place where it is whole; null where nothing was said up to there. */
function wholePart(bytes: Buffer, branch: readonly Line[]): { lines: readonly Line[]; lastId: string } | null {
  const chain = new Chain();
  let length = 0;
  let lastId = "";
  let saidSoFar = false;
  let said = false;
  for (const [at, line] of branch.entries()) {
    const entry = readEntry(bytes, line);
    if (entry === null) break;
    saidSoFar ||= isSaid(entry);
    if (!chain.add(entry)) continue;
    length = at + 1;
    lastId = entry.id;
    said = saidSoFar;
  }
  return said ? { lines: branch.slice(0, length), lastId } : null;
}

function isSaid({ role, summary }: PiEntry): boolean {
  return (role !== null && role !== "system") || summary !== null;
}

/** Where the session was, unless the fork is for another work tree. */
function directoryFor(cwd: unknown, projectRoot: string): string {
  return typeof cwd === "string" && isInside(projectRoot, cwd) ? resolve(cwd) : projectRoot;
}
