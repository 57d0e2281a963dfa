/** What an agent said as it wrote a line: the words before the tool use that brought it. */
import type { Agent } from "../agents/agent.ts";
import { getAgent, listAgents } from "../agents/registry.ts";
import { sessionKey } from "../base/ids.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../steps/model.ts";
import { readTranscript } from "../steps/transcript.ts";
import type { Conversation, Entry } from "../transcripts/model.ts";
import type { TurnStory } from "./blame.ts";
import { CheckpointReader } from "./read.ts";

/** Shorter ones are in every tool use. */
const SHORTEST_LINE = 3;

/** Null where there is no transcript, or nothing in it that wrote the line. */
export async function saidAbout(
  workspace: Workspace,
  turn: TurnStory,
  path: string,
  line: string,
): Promise<string | null> {
  const conversation = turn.step
    ? await conversationOfStep(workspace, turn.step)
    : await conversationOfCheckpoint(workspace, turn);
  return conversation ? wordsBefore(conversation, path, line) : null;
}

/** The conversation up to a step, from the store. */
export async function conversationOfStep(workspace: Workspace, step: Step): Promise<Conversation | null> {
  const { transcript, agent: id, session } = step;
  const analyser = id === null ? undefined : (await getAgent(id))?.analyser;
  if (!transcript || !analyser || id === null || session === null) return null;
  const key = sessionKey(id, session);
  const bytes = await readTranscript(workspace, key, transcript.generation, transcript.offset);
  return bytes.length === 0 ? null : analyser.read(bytes);
}

export async function readAs(agent: string, bytes: Uint8Array): Promise<Conversation | null> {
  return (await agentCalled(agent))?.analyser?.read(bytes) ?? null;
}

/** By registry name or by display name, as checkpoints have it. */
export async function agentCalled(name: string): Promise<Agent | undefined> {
  return (await getAgent(name)) ?? (await listAgents()).find(({ profile }) => isCalled(profile, name));
}

function isCalled(profile: { display_name: string }, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, "");
  // The format calls it "Factory AI Droid".
  return plain(profile.display_name) === plain(name).replace("factoryaidroid", "factorydroid");
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

export function wordsBefore(conversation: Conversation, path: string, line: string): string | null {
  const { entries } = conversation;
  const wanted = line.trim();
  if (wanted.length < SHORTEST_LINE) return null;
  const at = entries.findLastIndex((entry) => writes(entry, path, wanted));
  for (let i = at - 1; i >= 0; i--) {
    const entry = entries[i];
    if (!entry || entry.type === "prompt") return null;
    if (entry.type === "answer" && entry.text.trim() !== "") return entry.text;
  }
  return null;
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
