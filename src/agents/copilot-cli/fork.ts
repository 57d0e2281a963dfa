/**
 * A conversation cut at an entry, as a new session that Copilot finds by itself: a directory of its own, with the
 * transcript and the few lines of `workspace.yaml` by which sessions are listed. It works on bytes.
 */
import { dirname, join } from "node:path";
import { now } from "../../base/clock.ts";
import { isInside } from "../../base/paths.ts";
import { asBuffer, completeLines, completeLinesBackwards, parseLine } from "../../transcripts/lines.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../agent.ts";
import { addedId, addedLine, demandId, forkTitle } from "../fork.ts";
import { textAt } from "../paths.ts";
import type { Profile } from "../profile.ts";
import { resumeCommand } from "../resume.ts";
import { Chain } from "./chain.ts";
import { readLine } from "./lines.ts";
import { TRANSCRIPT, UUID } from "./places.ts";

export function createForker(profile: Profile): TranscriptForker {
  return {
    fork: (request) => fork(request, profile.transcript?.title_prefix ?? ""),
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

function fork(request: ForkRequest, prefix: string): ForkResult {
  const sessionId = request.newSessionId;
  demandId(sessionId, UUID, "Copilot session");
  const directory = join(dirname(dirname(request.transcriptPath)), sessionId);
  const transcriptPath = join(directory, TRANSCRIPT);
  const bytes = asBuffer(request.bytes);
  const first = bytes.indexOf(10);
  const head = first < 0 ? undefined : parseLine(bytes, { start: 0, end: first });
  const old = textAt(head, ["$.data.sessionId"]);
  const end = wholeEnd(bytes, request.lastId);
  if (end === 0 || textAt(head, ["$.type"]) !== "session.start" || old === null || !UUID.test(old)) {
    return { sessionId, transcriptPath, content: new Uint8Array(0) };
  }
  const description = Buffer.from(workspace(head, request, prefix));
  const kept = withSession(bytes.subarray(0, end), old, sessionId);
  const { account } = request;
  return {
    sessionId,
    transcriptPath,
    content: account ? Buffer.concat([kept, accountLine(kept, request, account)]) : kept,
    files: [{ path: join(directory, "workspace.yaml"), content: description }],
    told: Boolean(account),
  };
}

function accountLine(bytes: Buffer, request: ForkRequest, account: string): Buffer {
  const id = addedId(request, account);
  const [last] = completeLinesBackwards(bytes);
  return addedLine({
    type: "user.message",
    data: { content: account, transformedContent: account, messageId: id, delivery: "idle", interactionId: id },
    id,
    timestamp: now().toISOString(),
    parentId: last ? textAt(parseLine(bytes, last), ["$.id"]) : null,
  });
}

/** The last place up to entry `lastId` where the conversation can be cut; 0 where nobody has said anything. */
function wholeEnd(bytes: Buffer, lastId: string | null): number {
  const chain = new Chain();
  let whole = 0;
  let said = false;
  for (const at of completeLines(bytes)) {
    const line = readLine(bytes, at);
    if (line === null) continue;
    if (line.agent === null && (line.content.type === "prompt" || line.content.type === "compaction")) said = true;
    if (chain.add(line) && said) whole = at.end + 1;
    if (lastId !== null && line.id === lastId) break;
  }
  return whole;
}

/** Ids are all of one length and as good as unique: wherever the old one stands, it means this session. */
function withSession(bytes: Buffer, from: string, to: string): Buffer {
  const result = Buffer.from(bytes);
  for (let at = result.indexOf(from); at >= 0; at = result.indexOf(from, at + to.length))
    result.write(to, at, "latin1");
  return result;
}

/** YAML takes strings as JSON writes them. */
function workspace(head: unknown, request: ForkRequest, prefix: string): string {
  const { projectRoot } = request;
  const cwd = textAt(head, ["$.data.context.cwd"]);
  const time = now().toISOString();
  const fields: [string, unknown][] = [
    ["id", request.newSessionId],
    ["cwd", cwd !== null && isInside(projectRoot, cwd) ? cwd : projectRoot],
    ["git_root", projectRoot],
    ["client_name", "github/cli"],
    ["name", forkTitle(request.title, prefix)],
    ["user_named", true],
    ["summary_count", 0],
    ["fork_count", 0],
    ["created_at", time],
    ["updated_at", time],
  ];
  return fields.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join("");
}
