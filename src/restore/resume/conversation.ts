/** Reads the conversation to resume from the store or from a checkpoint. */

import { basename } from "node:path";
import type { Agent } from "../../agents/contract/agent.ts";
import { findAgentByName } from "../../agents/registry/registry.ts";
import { sessionKey } from "../../base/ids.ts";
import { withAssets } from "../../checkpoints/format/assets.ts";
import { isRemovedTranscript } from "../../checkpoints/format/layout.ts";
import type { CheckpointReader } from "../../checkpoints/read/read.ts";
import { ownChunks } from "../../checkpoints/write/transcript-chunks.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { loadSession } from "../../recording/session/store.ts";
import { stepsIn } from "../../steps/log.ts";
import { joinLines } from "../../transcripts/chunks.ts";
import { isCompactTranscript, readCompactTranscript } from "../../transcripts/compact.ts";
import { placeholdersIn, restorePlaceholders } from "../../transcripts/redact/placeholders.ts";
import { openVault } from "../../transcripts/redact/vault.ts";
import { conversationAt } from "../conversation/fork.ts";
import { filesChangedBy } from "../conversation/handoff.ts";
import type { ResumeNote } from "../notes.ts";
import { ResumeError } from "./problems.ts";
import type { CheckpointSource, Source } from "./source.ts";

export interface ResumedConversation {
  agent: Agent;
  session: string;
  bytes: Buffer;
  /** The transcript's original path; null if it comes from another machine. */
  path: string | null;
  lastId: string | null;
  /** A title that the user recognizes. */
  title: string;
  /** The last prompt, which a list of sessions shows; null if none is recorded. */
  prompt: string | null;
  /** When it was recorded. */
  time: string;
  /** Files that the conversation's turns changed, relative to the root. */
  files: string[];
  notes: ResumeNote[];
}

export async function conversationOf(
  workspace: Workspace,
  reader: CheckpointReader,
  source: Source,
): Promise<ResumedConversation> {
  if (source.kind === "checkpoint") return fromCheckpoint(workspace, reader, source);
  const found = await conversationAt(workspace, source.step);
  const { agent: id, session: ofSession } = source.step;
  if ("kind" in found && ofSession && !stepsIn(workspace).has({ agent: id, session: ofSession, hasTranscript: true }))
    throw new ResumeError("not-found", { kind: "session-not-recorded", session: ofSession });
  if ("kind" in found) throw new ResumeError("not-found", { kind: "no-conversation", reason: found });
  const { agent, position, bytes } = found;
  const session = source.step.session ?? "";
  const title = titleOf(workspace, agent, session, bytes);
  return {
    agent,
    session,
    bytes,
    path: position.path,
    lastId: position.lastId,
    title,
    prompt: lastPrompt(workspace, source.step),
    time: source.step.time,
    files: filesChangedBy(workspace, source.step),
    notes: [],
  };
}

async function fromCheckpoint(
  workspace: Workspace,
  reader: CheckpointReader,
  { checkpoint, session }: CheckpointSource,
): Promise<ResumedConversation> {
  const { metadata, record, index } = session;
  const agent = (record && (await findAgentByName(record.agent))) ?? (await findAgentByName(metadata.agent));
  if (!agent) {
    throw new ResumeError("not-found", { kind: "agent-unknown", agent: metadata.agent });
  }
  const stored = await reader.transcript(checkpoint, index);
  if (!stored || stored.bytes.length === 0) {
    throw new ResumeError("not-found", {
      kind: "checkpoint-conversation-missing",
      checkpoint,
      defects: stored?.defects ?? [],
    });
  }
  if (isRemovedTranscript(stored.bytes))
    throw new ResumeError("not-found", { kind: "checkpoint-conversation-removed", checkpoint });
  const own = ownChunks(workspace, sessionKey(agent.profile.id, metadata.session_id));
  const parts = stored.chunks.map(({ id, bytes }) =>
    // Only in our own sessions: a checkpoint from elsewhere could hold placeholders that reveal secrets of this machine.
    own.has(id) ? restorePlaceholders(bytes, openVault(workspace.storeDir)) : Buffer.from(bytes),
  );
  const joined = parts.length === 1 && parts[0] ? parts[0] : joinLines(parts);
  const bytes = Buffer.from(withAssets(joined, stored.images));
  const left = new Set([...placeholdersIn(bytes)].map(({ text }) => text)).size;
  const notes: ResumeNote[] = stored.defects.map((defect) => ({ kind: "damaged", defect }));
  if (stored.chunks.some(({ id }) => !own.has(id))) notes.push({ kind: "written-elsewhere", checkpoint });
  if (left > 0) notes.push({ kind: "secrets-removed", count: left });
  const { session_id: id, created_at: time } = metadata;
  return {
    agent,
    session: id,
    bytes,
    path: null,
    lastId: null,
    title: titleOf(workspace, agent, id, bytes),
    prompt: session.prompts.at(-1) ?? null,
    time,
    files: metadata.files_touched,
    notes,
  };
}

/** The newest prompt up to the step: the step itself may have been saved outside of any turn. */
function lastPrompt(workspace: Workspace, { id, agent, session }: Step): string | null {
  for (const { prompt } of stepsIn(workspace).newestFirst({ agent, session, from: id }))
    if (prompt !== null) return prompt;
  return null;
}

function titleOf(workspace: Workspace, agent: Agent, session: string, bytes: Buffer): string {
  const known = loadSession(workspace, sessionKey(agent.profile.id, session))?.title;
  const start = bytes.subarray(0, 1 << 20);
  const prompts = isCompactTranscript(start)
    ? readCompactTranscript(start).entries.flatMap(({ type, text }) => (type === "prompt" ? [text] : []))
    : (agent.analyzer?.readSlice(start, 0).prompts ?? []);
  return known ?? prompts[0] ?? basename(workspace.root);
}
