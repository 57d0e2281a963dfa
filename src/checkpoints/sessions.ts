/** Sessions as the steps recorded here tell them, and those that were imported. */
import { UserError } from "../base/errors.ts";
import { oneLine, shorten } from "../base/text.ts";
import type { Workspace } from "../git/workspace.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import type { Step } from "../steps/model.ts";
import { addTokens, type Conversation, NO_TOKENS, type Tokens } from "../transcripts/model.ts";
import { type Cost, estimatedCost, type Use } from "../transcripts/prices.ts";
import { attributeCommit } from "./attribution.ts";
import { checkpointsOfSession } from "./history.ts";
import { importedConversation, importedSessions } from "./imported.ts";
import { conversationOfStep } from "./said.ts";

export interface RecordedSession {
  agent: string;
  session: string;
  model: string | null;
  title: string | null;
  tokens: Tokens | null;
  /** Estimated; null where it is not known. */
  cost: Cost | null;
  /** Oldest first. */
  turns: RecordedTurn[];
  checkpoints: string[];
  /** Without snapshots: nothing to go back to, and no lines are known. */
  imported: boolean;
  conversation(workspace: Workspace): Promise<Conversation | null>;
}

export interface RecordedTurn {
  turn: number;
  time: string | null;
  prompt: string | null;
  response: string | null;
  files: string[];
  tokens: Tokens | null;
  /** Where the turn ended; null for an imported one. */
  step: string | null;
}

export interface SessionName {
  agent: string;
  session: string;
}

/** The one session whose id begins so, of all that are recorded or imported here. */
export async function findSession(workspace: Workspace, beginning: string): Promise<SessionName | undefined> {
  if (beginning === "") return undefined;
  const found = new Map<string, SessionName>();
  const consider = ({ agent, session }: SessionName) => {
    if (session.startsWith(beginning)) found.set(`${agent}\0${session}`, { agent, session });
  };
  for (const { agent, session } of stepsNewestFirst(workspace))
    if (agent !== null && session !== null) consider({ agent, session });
  for (const session of await importedSessions(workspace)) consider(session);
  const exact = [...found.values()].find(({ session }) => session === beginning);
  if (exact || found.size <= 1) return exact ?? [...found.values()][0];
  throw new UserError(
    "usage",
    `"${shorten(oneLine(beginning), 60)}" begins several sessions' ids.`,
    "Give a few more letters.",
  );
}

export async function recordedSession(workspace: Workspace, name: SessionName): Promise<RecordedSession> {
  const steps = [...stepsNewestFirst(workspace)].filter(
    ({ agent, session }) => agent === name.agent && session === name.session,
  );
  const checkpoints = await checkpointsOfSession(workspace, name.session);
  if (steps.length > 0) return fromSteps(name, steps.reverse(), checkpoints);
  const imported = (await importedSessions(workspace)).find(
    ({ agent, session }) => agent === name.agent && session === name.session,
  );
  if (!imported) throw new UserError("not-found", "That session is gone.", "`backtrail log` shows what there is.");
  const { model, title, tokens, turns } = imported;
  return {
    ...name,
    model,
    title,
    tokens,
    cost: tokens && estimatedCost([{ agent: name.agent, model, tokens, time: turns[0]?.time ?? null }]),
    turns: turns.map((turn, i) => ({ ...turn, turn: i + 1, tokens: null, step: null })),
    checkpoints,
    imported: true,
    conversation: (where) => importedConversation(where, imported),
  };
}

/** Those whose turns wrote lines of a commit, from the snapshots. */
export async function sessionsBehind(workspace: Workspace, commit: string): Promise<RecordedSession[]> {
  const turns = new Map<string, SessionName & { turns: Set<number> }>();
  for (const { added } of (await attributeCommit(workspace, commit, { madeHere: false })).files) {
    for (const { author } of added) {
      if (!author) continue;
      const key = `${author.agent}\0${author.session}`;
      const known = turns.get(key) ?? { agent: author.agent, session: author.session, turns: new Set<number>() };
      known.turns.add(author.turn);
      turns.set(key, known);
    }
  }
  const sessions: RecordedSession[] = [];
  for (const name of turns.values()) {
    const session = await recordedSession(workspace, { agent: name.agent, session: name.session });
    sessions.push({ ...session, turns: session.turns.filter(({ turn }) => name.turns.has(turn)) });
  }
  return sessions;
}

function fromSteps(name: SessionName, steps: readonly Step[], checkpoints: string[]): RecordedSession {
  const turns = new Map<number, RecordedTurn>();
  const uses = new Map<number, Use>();
  let last: Step | undefined;
  for (const step of steps) {
    if (step.transcript) last = step;
    if (step.turn === 0 || (step.kind !== "turn-start" && step.kind !== "turn-end")) continue;
    const { added, modified, deleted } = step.files;
    const known = turns.get(step.turn);
    if (step.tokens)
      uses.set(step.turn, { agent: step.agent, model: step.model, tokens: step.tokens, time: step.time });
    turns.set(step.turn, {
      turn: step.turn,
      time: known?.time ?? step.time,
      prompt: step.prompt ?? known?.prompt ?? null,
      response: step.response ?? known?.response ?? null,
      files: [...added, ...modified, ...deleted].sort(),
      tokens: step.tokens ?? known?.tokens ?? null,
      step: step.id,
    });
  }
  const counted = [...turns.values()].flatMap(({ tokens }) => (tokens ? [tokens] : []));
  return {
    ...name,
    model: steps.findLast(({ model }) => model !== null)?.model ?? null,
    title: null,
    tokens: counted.length === 0 ? null : counted.reduce(addTokens, { ...NO_TOKENS }),
    cost: uses.size === 0 ? null : estimatedCost(uses.values()),
    turns: [...turns.values()],
    checkpoints,
    imported: false,
    conversation: async (workspace) => (last ? conversationOfStep(workspace, last) : null),
  };
}
