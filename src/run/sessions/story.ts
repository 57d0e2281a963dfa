/**
 * Assembles a whole session: prompts, actions and results. Uses the recorded conversation if there is one, otherwise
 * the log.
 */
import { recordedSession } from "../../checkpoints/read/sessions.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Conversation } from "../../model/conversation.ts";
import type { Tokens } from "../../model/tokens.ts";
import type { Cost } from "../../transcripts/prices.ts";
import { readLog } from "../log/read.ts";
import { plus, type Usage } from "../result.ts";
import type { SessionNode } from "./model.ts";

export interface SessionStory {
  session: SessionNode;
  turns: StoryTurn[];
  entries: StoryEntry[];
  /** Null if the session was not recorded. */
  files: string[] | null;
  tokens: Tokens | null;
  cost: Cost | null;
  /** From the session's start to its last activity. */
  ms: number | null;
  /** The number of entries omitted because of the size limit. */
  leftOut: number;
}

export interface StoryTurn {
  turn: number;
  time: string | null;
  prompt: string;
  result: string;
  failure: string | null;
  files: string[];
  tokens: Tokens | null;
  step: string | null;
}

export interface StoryEntry {
  kind: "prompt" | "answer" | "tool" | "output" | "failure";
  text: string;
  /** The tool's name. */
  name: string | null;
}

const MAX_TEXT = 100_000;
const MAX_INPUT = 4_000;
/** The limit for all texts together, in characters. */
const MAX_BYTES = 20_000_000;

export async function storyOf(workspace: Workspace | undefined, session: SessionNode): Promise<SessionStory> {
  const logged = session.log ? await fromLog(session, session.log) : undefined;
  const recorded =
    workspace && (session.recorded || session.imported) ? await fromRecords(workspace, session) : undefined;
  const turns = merged(recorded?.turns ?? [], logged?.turns ?? []);
  const entries = recorded && recorded.entries.list.length > 0 ? recorded.entries : logged?.entries;
  const { startedAt, updatedAt } = session;
  const ms = startedAt === null ? Number.NaN : Date.parse(updatedAt) - Date.parse(startedAt);
  return {
    session,
    turns,
    entries: entries?.list ?? [],
    files: recorded ? [...new Set(turns.flatMap((turn) => turn.files))].sort() : null,
    tokens: session.tokens ?? logged?.usage?.tokens ?? null,
    cost: session.cost ?? (session.tokens ? null : (logged?.usage?.cost ?? null)),
    ms: Number.isNaN(ms) ? null : Math.max(0, ms),
    leftOut: entries?.leftOut ?? 0,
  };
}

/**
 * Each run is one turn. Takes the whole result and the failure from the log, and the rest from
 * the record.
 */
function merged(recorded: readonly StoryTurn[], logged: readonly StoryTurn[]): StoryTurn[] {
  if (recorded.length === 0) return [...logged];
  let from = 0;
  return recorded.map((turn) => {
    const at = logged.findIndex((run, i) => i >= from && run.prompt.trim() === turn.prompt.trim());
    const run = logged[at];
    if (!run) return turn;
    from = at + 1;
    return { ...turn, result: run.result === "" ? turn.result : run.result, failure: run.failure };
  });
}

async function fromRecords(workspace: Workspace, session: SessionNode) {
  const { turns, conversation } = await recordedSession(workspace, { agent: session.agent, session: session.id }).catch(
    () => ({ turns: [], conversation: () => Promise.resolve(null) }),
  );
  const said = await conversation(workspace).catch(() => null);
  return {
    turns: turns.map(
      // Drop `response`: redaction would miss a copy of the answer under a second name.
      ({ response, ...turn }): StoryTurn => ({
        ...turn,
        prompt: turn.prompt ?? "",
        result: response ?? "",
        failure: null,
      }),
    ),
    entries: said ? entriesOf(said) : new Entries(),
  };
}

function entriesOf(conversation: Conversation): Entries {
  const entries = new Entries();
  for (const { type, text, toolName, toolInput } of conversation.entries) {
    if (type === "prompt") entries.add("prompt", text);
    else if (type === "answer") entries.add("answer", text);
    else if (type === "tool-use") entries.add("tool", inputText(toolInput), toolName);
    else if (type === "tool-result") entries.add("output", text, toolName);
  }
  return entries;
}

async function fromLog(session: SessionNode, log: NonNullable<SessionNode["log"]>) {
  const turns: StoryTurn[] = [];
  const entries = new Entries();
  let usage: Usage | null = null;
  let prompt = "";
  let pieces = "";
  const flush = () => {
    entries.add("answer", pieces);
    pieces = "";
  };
  await readLog(log, {
    run(start) {
      prompt = start?.prompt ?? session.prompt;
      pieces = "";
      entries.add("prompt", prompt);
    },
    moment(moment) {
      if (moment.kind === "delta") {
        if (pieces.length < MAX_TEXT) pieces += moment.text;
        return;
      }
      flush();
      if (moment.kind === "message") entries.add("answer", moment.text);
      if (moment.kind === "tool") entries.add("tool", inputText(moment.input), moment.name);
      if (moment.kind === "failure") entries.add("failure", moment.text);
    },
    end(result) {
      flush();
      if (result.usage) usage = usage ? plus(usage, result.usage) : result.usage;
      const { text, failure } = result;
      // The result usually repeats the last answer.
      const said = entries.list.findLast(({ kind }) => kind === "answer" || kind === "prompt");
      if (text !== "" && !(said?.kind === "answer" && said.text === text) && failure !== text)
        entries.add("answer", text);
      if (failure !== null && entries.list.at(-1)?.kind !== "failure") entries.add("failure", failure);
      turns.push({
        turn: turns.length + 1,
        time: null,
        prompt,
        result: text,
        failure,
        files: [],
        tokens: result.usage?.tokens ?? null,
        step: null,
      });
    },
  });
  return { turns, entries, usage: usage as Usage | null };
}

/** A list with a size limit. */
class Entries {
  readonly list: StoryEntry[] = [];
  leftOut = 0;
  #size = 0;

  add(kind: StoryEntry["kind"], text: string, name: string | null = null): void {
    if (text === "" && kind !== "tool") return;
    if (this.#size > MAX_BYTES) {
      this.leftOut++;
      return;
    }
    const longest = kind === "tool" || kind === "output" ? MAX_INPUT : MAX_TEXT;
    const more = text.length - longest;
    const shown = more > 0 ? `${text.slice(0, longest)}… [${more} more characters]` : text;
    this.#size += shown.length;
    this.list.push({ kind, text: shown, name });
  }
}

function inputText(input: unknown): string {
  if (input === null || input === undefined) return "";
  return typeof input === "string" ? input : (JSON.stringify(input, null, 2) ?? "");
}
