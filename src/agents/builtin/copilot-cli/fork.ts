/**
 * Forks a conversation at an entry into a new session that Copilot finds by itself: a separate directory with the
 * transcript and a short `workspace.yaml`, which Copilot uses to list sessions. Works on bytes.
 */
import { dirname, join } from "node:path";
import { now } from "../../../base/clock.ts";
import { isInside } from "../../../base/paths.ts";
import { asBuffer, completeLinesBackwards, parseLine } from "../../../transcripts/lines.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { textAt } from "../../registry/paths.ts";
import { addedId, addedLine, demandId, forkerOf, forkTitle } from "../../shared/fork.ts";
import type { TranscriptEntry } from "../../shared/transcript/items.ts";
import { TRANSCRIPT, UUID } from "./paths.ts";
import { readEntries } from "./transcript.ts";

export function createForker(profile: Profile): TranscriptForker {
  return forkerOf(profile, fork);
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
  const end = cutUpTo(bytes, request.lastId);
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

/** The last cut point up to entry `lastId`; 0 if the conversation is empty. */
function cutUpTo(bytes: Buffer, lastId: string | null): number {
  let cut = 0;
  let hasBegun = false;
  for (const entry of readEntries(bytes)) {
    hasBegun ||= isBeginning(entry);
    if (entry.cuttable && hasBegun) cut = entry.end + 1;
    if (lastId !== null && entry.id === lastId) break;
  }
  return cut;
}

function isBeginning({ scope, items }: TranscriptEntry): boolean {
  return scope === undefined && items.some(({ kind }) => kind === "prompt" || kind === "compaction");
}

/** Ids have a fixed length and are practically unique, so every occurrence of the old id means this session. */
function withSession(bytes: Buffer, from: string, to: string): Buffer {
  const result = Buffer.from(bytes);
  for (let at = result.indexOf(from); at >= 0; at = result.indexOf(from, at + to.length))
    result.write(to, at, "latin1");
  return result;
}

/** YAML accepts JSON strings. */
function workspace(head: unknown, request: ForkRequest, prefix: string): string {
  const { projectRoot } = request;
  const cwd = textAt(head, ["$.data.context.cwd"]);
  const time = now().toISOString();
  const fields: [string, unknown][] = [
    ["id", request.newSessionId],
    ["cwd", cwd !== null && isInside(projectRoot, cwd) ? cwd : projectRoot],
    ["git_root", projectRoot],
    ["client_name", "github/cli"],
    ["name", forkTitle(request, prefix)],
    ["user_named", true],
    ["summary_count", 0],
    ["fork_count", 0],
    ["created_at", time],
    ["updated_at", time],
  ];
  return fields.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join("");
}
