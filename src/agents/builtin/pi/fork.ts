/**
 * Forks a branch at an entry into a new session that Pi finds by itself: a new header, and the unchanged entries from
 * the root to the cut. Other branches are not copied.
 */
import { resolve } from "node:path";
import { now } from "../../../base/clock.ts";
import { hexDigest } from "../../../base/digest.ts";
import { isInside } from "../../../base/paths.ts";
import { asBuffer, type Line } from "../../../transcripts/lines.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { addedLine, demandId, forkerOf, forkTitle } from "../../shared/fork.ts";
import { userCommand } from "../../shared/resume.ts";
import { fileName, sessionDirectory } from "./paths.ts";
import { branchTo, readHeader, readLinesOf, readNode } from "./transcript.ts";

const VERSION = 3;

export function createForker(profile: Profile): TranscriptForker {
  return { ...forkerOf(profile, (request, prefix) => fork(request, prefix, profile)), branching: true };
}

function fork(request: ForkRequest, prefix: string, { resume }: Profile): ForkResult {
  const { newSessionId: sessionId, projectRoot } = request;
  demandId(sessionId, /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/, "Pi session");
  const bytes = asBuffer(request.bytes);
  const header = readHeader(bytes);
  const cwd = directoryFor(header?.["cwd"], projectRoot);
  const time = now();
  const transcriptPath = `${sessionDirectory(request.transcriptPath, cwd)}/${fileName(sessionId, time)}`;
  // By id, Pi finds only sessions of the directory that it is started in.
  const byPath = userCommand((resume ?? []).map((word) => word.replace("{session}", () => transcriptPath)));
  const command = cwd === projectRoot ? undefined : byPath;
  const place = { sessionId, transcriptPath, ...(command === undefined ? {} : { command }) };

  const kept = cutBranch(bytes, branchTo(bytes, request.lastId));
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
    name: forkTitle(request, prefix),
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

/** Eight hexadecimal digits, like Pi's own ids. */
function entryId(sessionId: string, seed: string): string {
  return hexDigest("sha256", `${sessionId}\0${seed}`).slice(0, 8);
}

/** The branch up to its last cut point; null if that part contains no messages. */
function cutBranch(bytes: Buffer, branch: readonly Line[]): { lines: readonly Line[]; lastId: string } | null {
  let at = 0;
  let length = 0;
  let lastId = "";
  for (const entry of readLinesOf(bytes, branch)) {
    // Nothing after a damaged line is known to belong to the branch.
    if (entry.start !== branch[at]?.start || entry.id === null) break;
    at++;
    if (!entry.cuttable) continue;
    length = at;
    lastId = entry.id;
  }
  const lines = branch.slice(0, length);
  return lines.some((line) => saysSomething(bytes, line)) ? { lines, lastId } : null;
}

function saysSomething(bytes: Buffer, line: Line): boolean {
  const node = readNode(bytes, line);
  return node !== null && ((node.role !== null && node.role !== "system") || node.summary !== null);
}

/** The session's directory, unless the fork is for another work tree. */
function directoryFor(cwd: unknown, projectRoot: string): string {
  return typeof cwd === "string" && isInside(projectRoot, cwd) ? resolve(cwd) : projectRoot;
}
