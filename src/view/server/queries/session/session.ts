/** One session: its prompts, its conversation in parts, its tokens per turn. */
import { UserError } from "../../../../base/errors.ts";
import type { Conversation, Entry } from "../../../../model/conversation.ts";
import type { Step } from "../../../../model/step.ts";
import type { SessionNode } from "../../../../run/sessions/model.ts";
import type { ConversationEntry, ConversationPage, SessionDetails, SessionTurn } from "../../../protocol.ts";
import { inputText, toolTitle, wholeConversation } from "../../repository/conversations.ts";
import type { OpenRepository } from "../../repository/open.ts";
import type { Redaction } from "../../repository/redaction.ts";
import type { Context } from "../../routes.ts";
import type { Query } from "../query.ts";
import { costOf, fateOf } from "../timeline/turn-rows.ts";
import { requireNode, sessionRow } from "./session-rows.ts";

const USUAL_LIMIT = 200;
const MAX_LIMIT = 500;
const MAX_TEXT = 16_000;
const MAX_WHOLE_TEXT = 8 << 20;

export async function session({ repository }: Context, query: Query): Promise<SessionDetails> {
  return sessionDetails(repository, await requireNode(repository, query.required("id")));
}

export async function sessionDetails(repository: OpenRepository, node: SessionNode): Promise<SessionDetails> {
  const redaction = await repository.redaction(false);
  const said = await conversationOf(repository, node);
  const entries = said?.entries ?? [];
  return {
    session: sessionRow(node, redaction),
    title: said?.title ? redaction.text(said.title) : null,
    turns: turnsOf(repository, node, entries, redaction),
    compactions: entries.flatMap(({ type }, index) => (type === "compaction" ? [index] : [])),
    entries: said ? entries.length : null,
    problem: said ? null : "The conversation can't be read: no transcript of this agent is stored.",
    resume: node.recorded ? `backtrail resume ${node.id}` : null,
  };
}

export async function conversation({ repository }: Context, query: Query): Promise<ConversationPage> {
  const node = await requireNode(repository, query.required("session"));
  const from = query.number("from", 0, Number.MAX_SAFE_INTEGER);
  const limit = query.number("limit", USUAL_LIMIT, MAX_LIMIT);
  const how = await showingOf(repository, query.flag("reveal"), MAX_TEXT);
  const { entries } = await requireConversation(repository, node);
  const numbers = turnNumbersOf(entries);
  const shown = entries.slice(from, from + limit);
  return {
    entries: shown.map((entry, i) => entryOf(entry, from + i, numbers[from + i] ?? 0, how)),
    total: entries.length,
    next: from + limit < entries.length ? from + limit : null,
  };
}

/** The whole conversation; empty if it can't be read. */
export async function allEntries(
  repository: OpenRepository,
  node: SessionNode,
  longest: number,
): Promise<ConversationEntry[]> {
  const entries = (await conversationOf(repository, node))?.entries ?? [];
  const numbers = turnNumbersOf(entries);
  const how = await showingOf(repository, false, longest);
  return entries.map((entry, i) => entryOf(entry, i, numbers[i] ?? 0, how));
}

export async function entry({ repository }: Context, query: Query): Promise<ConversationEntry> {
  const node = await requireNode(repository, query.required("session"));
  const index = query.number("index", 0, Number.MAX_SAFE_INTEGER);
  const how = await showingOf(repository, query.flag("reveal"), MAX_WHOLE_TEXT);
  const { entries } = await requireConversation(repository, node);
  const found = entries[index];
  if (!found) throw new UserError("not-found", "The conversation has no such entry.");
  return entryOf(found, index, turnNumbersOf(entries)[index] ?? 0, how);
}

function conversationOf(repository: OpenRepository, { agent, id }: SessionNode): Promise<Conversation | null> {
  return wholeConversation(repository, { agent, session: id });
}

async function requireConversation(repository: OpenRepository, node: SessionNode): Promise<Conversation> {
  const said = await conversationOf(repository, node);
  if (said) return said;
  throw new UserError("not-found", "The conversation can't be read: no transcript of this agent is stored.");
}

/** Each entry's turn: the number of prompts up to it. */
function turnNumbersOf(entries: readonly Entry[]): number[] {
  let number = 0;
  return entries.map(({ type }) => (type === "prompt" ? ++number : number));
}

interface Showing {
  redaction: Redaction;
  /** Paths below it are shown without it. */
  root: string;
  /** Characters of a text. */
  most: number;
}

async function showingOf(repository: OpenRepository, reveal: boolean, most: number): Promise<Showing> {
  return { redaction: await repository.redaction(reveal), root: repository.workspace.root, most };
}

function entryOf(
  { type, time, text, toolName, toolUseId, toolInput, failed }: Entry,
  index: number,
  number: number,
  { redaction, root, most }: Showing,
): ConversationEntry {
  const shown = redaction.text(text);
  const input = type === "tool-use" ? redaction.text(inputText(toolInput)) : "";
  const isTool = type === "tool-use" || type === "tool-result";
  const title = isTool ? redaction.text(toolTitle(toolName, type === "tool-use" ? toolInput : null, root)) : "";
  return {
    index,
    type,
    time,
    number,
    text: shown.slice(0, most),
    shortened: shown.length > most || input.length > most,
    tool: isTool ? { name: toolName ?? "tool", id: toolUseId, title, input: input.slice(0, most) } : null,
    ...(failed ? { failed } : {}),
  };
}

function turnsOf(
  repository: OpenRepository,
  { agent, id }: SessionNode,
  entries: readonly Entry[],
  redaction: Redaction,
): SessionTurn[] {
  const { turns } = repository.indexWithMark();
  const steps = turns.all().filter((step) => step.session === id && step.agent === agent && step.turn > 0);
  const byTurn = Map.groupBy(steps, ({ turn }) => turn);
  const prompts = entries.flatMap(({ type, text }, index) => (type === "prompt" ? [{ text, index }] : []));
  let from = 0;
  return [...byTurn].reverse().map(([number, own]): SessionTurn => {
    const end = own.find(({ kind }) => kind === "turn-end");
    const start = own.findLast(({ kind }) => kind === "turn-start");
    const prompt = [end, start].find((step) => step?.prompt)?.prompt ?? null;
    const at = prompts.findIndex(({ text }, i) => i >= from && text.trim() === (prompt ?? "").trim());
    if (at >= 0) from = at + 1;
    const head = end ?? own[0];
    return {
      number,
      prompt: prompt === null ? null : redaction.text(prompt),
      id: head?.id ?? null,
      entry: prompts[at]?.index ?? null,
      startedAt: start?.time ?? null,
      endedAt: end?.time ?? null,
      fate: head ? fateOf(turns.statuses().of(head)) : null,
      tokens: end?.tokens ?? null,
      cost: end ? costOf(end) : null,
      context: contextOf(end),
    };
  });
}

/** Per answer of the model, the input and what came from the cache is the context that it saw. */
function contextOf(end: Step | undefined): number | null {
  if (!end?.tokens || !end.apiCalls) return null;
  const { input, cacheRead, cacheWrite } = end.tokens;
  return Math.round((input + cacheRead + cacheWrite) / end.apiCalls);
}
