/** Finds the agent's explanation of a line: its answer before the tool use that wrote the line. */
import { findAgentByName, getAgent } from "../../agents/registry/registry.ts";
import { sessionKey } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Conversation, Entry } from "../../model/conversation.ts";
import type { Step } from "../../model/step.ts";
import { readTranscript } from "../../steps/conversation/transcript.ts";
import { isCompactTranscript, readCompactTranscript } from "../../transcripts/compact.ts";
import { asBuffer, isOneDocument, offsetOfLine, parseLine } from "../../transcripts/lines.ts";
import { CheckpointReader, type StoredSession } from "../read/read.ts";
import type { TurnStory } from "./blame.ts";

/** Shorter lines occur in almost every tool use. */
const MIN_LINE = 3;

/** Returns null if there is no transcript, or if no tool use in it wrote the line. */
export async function explanationForLine(
  workspace: Workspace,
  turn: TurnStory,
  path: string,
  line: string,
): Promise<string | null> {
  const conversation = turn.step
    ? await conversationOfStep(workspace, turn.step)
    : await conversationOfCheckpoint(workspace, turn);
  return conversation ? answerBefore(conversation, path, line) : null;
}

/** Reads the conversation up to a step from the store. */
export async function conversationOfStep(workspace: Workspace, step: Step): Promise<Conversation | null> {
  const { transcript, agent: id, session } = step;
  const analyzer = id === null ? undefined : (await getAgent(id))?.analyzer;
  if (!transcript || !analyzer || id === null || session === null) return null;
  const key = sessionKey(id, session);
  const bytes = await readTranscript(workspace, key, transcript.generation, transcript.offset);
  return bytes.length === 0 ? null : analyzer.read(bytes);
}

export async function readAs(agent: string, bytes: Uint8Array): Promise<Conversation | null> {
  if (isCompactTranscript(bytes)) return readCompactTranscript(bytes);
  return (await findAgentByName(agent))?.analyzer?.read(bytes) ?? null;
}

async function conversationOfCheckpoint(workspace: Workspace, turn: TurnStory): Promise<Conversation | null> {
  if (turn.checkpoint === null || turn.index === null) return null;
  const reader = new CheckpointReader(workspace);
  try {
    const transcript = await reader.transcript(turn.checkpoint, turn.index);
    return transcript && transcript.bytes.length > 0 ? await readAs(turn.agent, transcript.bytes) : null;
  } finally {
    reader.close();
  }
}

export function answerBefore(conversation: Conversation, path: string, line: string): string | null {
  const { entries } = conversation;
  const wanted = line.trim();
  if (wanted.length < MIN_LINE) return null;
  const at = entries.findLastIndex((entry) => writes(entry, path, wanted));
  for (let i = at - 1; i >= 0; i--) {
    const entry = entries[i];
    if (!entry || entry.type === "prompt") return null;
    if (entry.type === "answer" && entry.text.trim() !== "") return entry.text;
  }
  return null;
}

/** Returns the prompt of the turn that wrote a line, and the turn's number in the conversation; null if no edit did. */
export function promptBehind(
  { entries }: Conversation,
  path: string,
  line: string,
): { prompt: string; turn: number } | null {
  const wanted = line.trim();
  if (wanted.length < MIN_LINE) return null;
  const at = entries.findLastIndex((entry) => writes(entry, path, wanted));
  const prompts = entries.slice(0, Math.max(0, at)).filter((entry) => entry.type === "prompt");
  const last = prompts.at(-1);
  return last ? { prompt: last.text, turn: prompts.length } : null;
}

/** Returns the session's prompts that belong to the checkpoint: an older tool lists those of the whole session. */
export async function ownPrompts(reader: CheckpointReader, id: string, session: StoredSession): Promise<string[]> {
  const { metadata, prompts, record, index } = session;
  const start = metadata.checkpoint_transcript_start ?? 0;
  if (record || start === 0 || prompts.length < 2) return prompts;
  const stored = await reader.transcript(id, index);
  const given = stored && (await promptsGiven(metadata.agent, stored.bytes, start));
  if (!given || given.all === 0 || given.since >= prompts.length) return prompts;
  // A commit in the middle of a turn: the turn's prompt came before.
  return prompts.slice(-Math.max(1, given.since));
}

/** Counts the prompts in a transcript, and those since `start`: a line, or a message in a transcript of one document. */
async function promptsGiven(
  agent: string,
  bytes: Uint8Array,
  start: number,
): Promise<{ all: number; since: number } | null> {
  const all = (await readAs(agent, bytes))?.entries.filter(isPrompt);
  if (!all) return null;
  if (!isOneDocument(asBuffer(bytes))) {
    const offset = offsetOfLine(bytes, start);
    return { all: all.length, since: all.filter((entry) => entry.start >= offset).length };
  }
  const document = parseLine(asBuffer(bytes), { start: 0, end: bytes.length });
  const messages = isRecord(document) ? document["messages"] : undefined;
  if (!isRecord(document) || !Array.isArray(messages)) return null;
  const rest = Buffer.from(JSON.stringify({ ...document, messages: messages.slice(start) }));
  const since = (await readAs(agent, rest))?.entries.filter(isPrompt) ?? [];
  return { all: all.length, since: since.length };
}

function isPrompt({ type }: Entry): boolean {
  return type === "prompt";
}

function writes(entry: Entry, path: string, line: string): boolean {
  if (entry.type !== "tool-use" || entry.files.length === 0) return false;
  const isFile = entry.files.some((file) => file === path || file.replaceAll("\\", "/").endsWith(`/${path}`));
  return isFile && textsIn(entry.toolInput).some((text) => text.includes(line));
}

function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth > 5) return [];
  return Object.values(value).flatMap((each) => textsIn(each, depth + 1));
}
