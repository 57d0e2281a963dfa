/**
 * Makes the documents of turns from checkpoints: the same documents that the authors' machines send. Checkpoints are
 * untrusted, so every document passes the same schema as a client's request.
 */

import { readAs } from "../../checkpoints/blame/line-rationale.ts";
import { isRemovedTranscript, type RecordedStep } from "../../checkpoints/format/layout.ts";
import type { CheckpointReader, StoredCheckpoint, StoredSession } from "../../checkpoints/read/read.ts";
import { isTurnStep } from "../../model/turn.ts";
import { type Message, type SharedTurn, turnSchema } from "../../team/protocol.ts";
import { messagesByTurn, sharedTurn } from "../../team/shared-turn.ts";
import { offsetOfLine } from "../../transcripts/lines.ts";

export interface CheckpointSession {
  session: string;
  /** The conversation was removed with `forget`. */
  forgotten: boolean;
  /** At the level `everything`. */
  turns: SharedTurn[];
}

/** Sessions that another tool wrote have no record of turns, and are left out. */
export async function sessionsOf(reader: CheckpointReader, checkpoint: StoredCheckpoint): Promise<CheckpointSession[]> {
  const sessions: CheckpointSession[] = [];
  for (const session of checkpoint.sessions) {
    if (!session.record) continue;
    const bytes = (await reader.transcript(checkpoint.id, session.index))?.bytes ?? new Uint8Array();
    const forgotten = isRemovedTranscript(bytes);
    const groups = turnGroups(session.record.steps);
    const messages = forgotten ? new Map<number, Message[]>() : await messagesOf(session, bytes, groups);
    sessions.push({
      session: session.record.session,
      forgotten,
      turns: groups.flatMap((steps) => documentOf(session, steps, checkpoint.id, messages)),
    });
  }
  return sessions;
}

/** The steps of each turn, in order. */
function turnGroups(steps: readonly RecordedStep[]): RecordedStep[][] {
  const turns = steps.filter(({ turn, kind }) => turn > 0 && isTurnStep({ kind }));
  return [...Map.groupBy(turns, ({ turn }) => turn).values()];
}

function documentOf(
  { record }: StoredSession,
  steps: readonly RecordedStep[],
  checkpoint: string,
  messages: ReadonlyMap<number, Message[]>,
): SharedTurn[] {
  const end = steps.find(({ kind }) => kind === "turn-end");
  const start = steps.find(({ kind }) => kind === "turn-start");
  const first = start ?? steps[0];
  if (!first || !record) return [];
  const document = sharedTurn({
    agent: record.agent,
    session: record.session,
    turn: first.turn,
    startedAt: first.time,
    endedAt: end?.time ?? null,
    model: end?.model ?? null,
    status: "kept",
    paths: end?.files ?? [],
    tokens: end?.tokens ?? null,
    apiCalls: end?.apiCalls ?? null,
    usd: end?.usd ?? null,
    prompt: promptOf(steps),
    checkpoints: [checkpoint],
    messages: messages.get(first.turn) ?? [],
  });
  const checked = turnSchema.safeParse(document);
  return checked.success ? [checked.data] : [];
}

function promptOf(steps: readonly RecordedStep[]): string | null {
  const end = steps.find(({ kind }) => kind === "turn-end");
  return [end, ...steps].find((step) => step?.prompt)?.prompt ?? null;
}

/** Only the part of the conversation that is new in this checkpoint: earlier turns may have the same prompts. */
async function messagesOf(
  { record, metadata }: StoredSession,
  bytes: Uint8Array,
  groups: readonly (readonly RecordedStep[])[],
): Promise<Map<number, Message[]>> {
  const conversation = bytes.length === 0 ? null : await readAs(record?.agent ?? "", bytes);
  if (!conversation) return new Map();
  const start = offsetOfLine(bytes, metadata.checkpoint_transcript_start ?? 0);
  const entries = conversation.entries.filter((entry) => entry.start >= start);
  const prompts = groups.map((steps) => ({ turn: steps[0]?.turn ?? 0, prompt: promptOf(steps) }));
  return messagesByTurn({ ...conversation, entries }, prompts);
}
