/** Reads conversations from the store, as entries that no longer depend on the agent's format. */
import type { Agent } from "../../../agents/contract/agent.ts";
import { getAgent } from "../../../agents/registry/registry.ts";
import { sessionKey } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { oneLine, shorten } from "../../../base/text.ts";
import { recordedSession } from "../../../checkpoints/read/sessions.ts";
import type { Conversation, Entry } from "../../../model/conversation.ts";
import type { ToolKind } from "../../../model/event.ts";
import type { Step } from "../../../model/step.ts";
import { readTranscript } from "../../../steps/conversation/transcript.ts";
import { turnsIn } from "../../../transcripts/turns.ts";
import type { OpenRepository } from "./open.ts";

const MAX_TURN_BYTES = 64 << 20;
const TITLE_LENGTH = 200;
/** Input fields that describe a tool call in a few words. */
const TELLING_FIELDS = ["command", "cmd", "file_path", "filePath", "pattern", "query", "path", "url", "description"];

/** The entries of one turn; null if the agent's transcripts can't be read or none is stored. */
export async function entriesOfTurn({ workspace }: OpenRepository, steps: readonly Step[]): Promise<Entry[] | null> {
  const last = steps.find(({ transcript }) => transcript !== null);
  const { agent: id, session } = last ?? {};
  if (!last?.transcript || !id || !session) return null;
  const analyzer = (await getAgent(id))?.analyzer;
  if (!analyzer) return null;
  const { generation, offset } = last.transcript;
  const bytes = await readTranscript(workspace, sessionKey(id, session), generation, offset);
  if (bytes.length === 0) return null;
  const start = steps.findLast(({ kind }) => kind === "turn-start")?.transcript;
  const from = start?.generation === generation ? Math.min(start.offset, bytes.length) : 0;
  const slice = bytes.subarray(from, from + MAX_TURN_BYTES);
  const entries = from > 0 ? analyzer.read(slice).entries : [];
  const hasEnded = steps.some(({ kind }) => kind === "turn-end");
  // A running turn stores nothing until its first command: existing entries belong to the turn before.
  if (entries.length > 0 || (from > 0 && !hasEnded)) return entries;
  // The transcript is one document, or the turn's start is not known: the turn is the last one in it.
  return turnsIn(analyzer.read(bytes)).at(-1)?.entries ?? [];
}

interface CachedConversation {
  key: string;
  mark: string;
  conversation: Conversation;
}

/** The last one read: a page asks for one part after another. */
const cache = new WeakMap<OpenRepository, CachedConversation>();

export async function wholeConversation(
  repository: OpenRepository,
  name: { agent: string; session: string },
): Promise<Conversation | null> {
  const key = sessionKey(name.agent, name.session);
  const { mark } = repository.indexWithMark();
  const known = cache.get(repository);
  if (known?.key === key && known.mark === mark) return known.conversation;
  const session = await recordedSession(repository.workspace, name).catch(() => null);
  const conversation = (await session?.conversation(repository.workspace).catch(() => null)) ?? null;
  if (conversation) cache.set(repository, { key, mark, conversation });
  return conversation;
}

export function toolKind(agent: Agent | undefined, name: string | null): ToolKind {
  const tools = agent?.profile.hooks?.tools;
  return tools && name !== null && Object.hasOwn(tools, name) ? (tools[name] ?? "other") : "other";
}

export function inputText(input: unknown): string {
  if (input === null || input === undefined) return "";
  return typeof input === "string" ? input : (JSON.stringify(input, null, 2) ?? "");
}

/** One line that says what a tool did. Paths below `root` are shown without it. */
export function toolTitle(name: string | null, input: unknown, root: string): string {
  const telling = isRecord(input) ? TELLING_FIELDS.map((field) => input[field]) : [input];
  const found = telling.find((value): value is string => typeof value === "string" && value.trim() !== "");
  const title = found?.startsWith(`${root}/`) ? found.slice(root.length + 1) : found;
  return shorten(oneLine(title ?? name ?? ""), TITLE_LENGTH);
}
