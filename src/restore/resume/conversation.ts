/** The bytes of a conversation that is to go on, from the store or from a checkpoint. */
import { basename } from "node:path";
import type { Agent } from "../../agents/agent.ts";
import { UserError } from "../../base/errors.ts";
import { sessionKey } from "../../base/ids.ts";
import { oneLine, plural, shorten } from "../../base/text.ts";
import type { CheckpointReader } from "../../checkpoints/read.ts";
import { agentCalled } from "../../checkpoints/said.ts";
import { ownChunks } from "../../checkpoints/transcript-chunks.ts";
import type { Workspace } from "../../git/workspace.ts";
import { loadSession } from "../../lifecycle/session-state.ts";
import { joinLines } from "../../transcripts/chunks.ts";
import { placeholdersIn, restorePlaceholders } from "../../transcripts/redact/placeholders.ts";
import { openVault } from "../../transcripts/redact/vault.ts";
import { conversationAt } from "../chat.ts";
import type { CheckpointSource, Source } from "./source.ts";

export interface ResumedConversation {
  agent: Agent;
  session: string;
  bytes: Buffer;
  /** Where the transcript was; null for one from elsewhere. */
  path: string | null;
  lastId: string | null;
  /** How a person knows it again. */
  title: string;
  /** When it was recorded. */
  time: string;
  notes: string[];
}

export async function conversationOf(
  workspace: Workspace,
  reader: CheckpointReader,
  source: Source,
): Promise<ResumedConversation> {
  if (source.kind === "checkpoint") return fromCheckpoint(workspace, reader, source);
  const found = await conversationAt(workspace, source.step);
  if (typeof found === "string") throw new UserError("not-found", found);
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
    time: source.step.time,
    notes: [],
  };
}

async function fromCheckpoint(
  workspace: Workspace,
  reader: CheckpointReader,
  { checkpoint, session }: CheckpointSource,
): Promise<ResumedConversation> {
  const { metadata, record, index } = session;
  const agent = (record && (await agentCalled(record.agent))) ?? (await agentCalled(metadata.agent));
  if (!agent) {
    throw new UserError(
      "not-found",
      `The agent "${shorten(oneLine(metadata.agent), 40)}" is not known here.`,
      "`backtrail agents list` shows which are.",
    );
  }
  const stored = await reader.transcript(checkpoint, index);
  if (!stored || stored.bytes.length === 0) {
    const why = stored?.problems.join(" ") ?? "";
    throw new UserError("not-found", `The conversation of checkpoint ${checkpoint} can't be had. ${why}`.trim());
  }
  const own = ownChunks(workspace, sessionKey(agent.profile.id, metadata.session_id));
  const parts = stored.chunks.map(({ id, bytes }) =>
    // Others could name placeholders to have secrets of this machine filled in.
    own.has(id) ? restorePlaceholders(bytes, openVault(workspace.storeDir)) : Buffer.from(bytes),
  );
  const bytes = Buffer.from(parts.length === 1 && parts[0] ? parts[0] : joinLines(parts));
  const left = new Set([...placeholdersIn(bytes)].map(({ text }) => text)).size;
  const notes = [...stored.problems];
  if (stored.chunks.some(({ id }) => !own.has(id))) notes.push(elsewhere(checkpoint));
  if (left > 0)
    notes.push(
      `Secrets were taken out before it was shared: ${plural(left, "placeholder stands", "placeholders stand")} for them.`,
    );
  const { session_id: id, created_at: time } = metadata;
  return {
    agent,
    session: id,
    bytes,
    path: null,
    lastId: null,
    title: titleOf(workspace, agent, id, bytes),
    time,
    notes,
  };
}

/** Whoever wrote it speaks to the agent in the user's name. */
function elsewhere(checkpoint: string): string {
  return `It was written elsewhere: \`backtrail explain ${checkpoint} --conversation\` shows what the agent will be told.`;
}

function titleOf(workspace: Workspace, agent: Agent, session: string, bytes: Buffer): string {
  const known = loadSession(workspace, sessionKey(agent.profile.id, session))?.title;
  const prompts = agent.analyser?.readStretch(bytes.subarray(0, 1 << 20), 0).prompts ?? [];
  return known ?? prompts[0] ?? basename(workspace.root);
}
