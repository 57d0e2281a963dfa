/** Assembles sessions from locally recorded steps and from imports. */

import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import type { Conversation } from "../../model/conversation.ts";
import { type SessionRef, sessionRefKey } from "../../model/session.ts";
import type { Step } from "../../model/step.ts";
import { addTokens, NO_TOKENS, type Tokens } from "../../model/tokens.ts";
import { keptSessions, keptSteps } from "../../steps/conversation/kept.ts";
import { stepsIn } from "../../steps/log.ts";
import { type Cost, estimatedCost, type Use } from "../../transcripts/prices.ts";
import { conversationOfStep } from "../blame/line-rationale.ts";
import { importedConversation, importedSessions } from "../import/store.ts";
import { checkpointsOfSession } from "../links/history.ts";
import { CheckpointError } from "../problems.ts";
import { attributeCommit } from "../write/attribution.ts";

export interface RecordedSession {
  agent: string;
  session: string;
  model: string | null;
  title: string | null;
  tokens: Tokens | null;
  /** Estimated; null if unknown. */
  cost: Cost | null;
  /** Oldest first. */
  turns: RecordedTurn[];
  checkpoints: string[];
  /** An imported session has no snapshots: it can't be restored, and its lines are unknown. */
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
  /** The step at the end of the turn; null for an imported turn. */
  step: string | null;
}

/** Finds the only recorded or imported session whose id begins with the text. */
export async function findSession(workspace: Workspace, beginning: string): Promise<SessionRef | undefined> {
  if (beginning === "") return undefined;
  const found = new Map<string, SessionRef>();
  const consider = ({ agent, session }: SessionRef) => {
    if (session.startsWith(beginning)) found.set(sessionRefKey({ agent, session }), { agent, session });
  };
  for (const { agent, session } of stepsIn(workspace).newestFirst())
    if (agent !== null && session !== null) consider({ agent, session });
  for (const session of keptSessions(workspace)) consider(session);
  for (const session of await importedSessions(workspace)) consider(session);
  const exact = [...found.values()].find(({ session }) => session === beginning);
  if (exact || found.size <= 1) return exact ?? [...found.values()][0];
  throw new CheckpointError("usage", { kind: "session-name-ambiguous", text: beginning });
}

export async function recordedSession(workspace: Workspace, name: SessionRef): Promise<RecordedSession> {
  const steps = stepsIn(workspace).list({ agent: name.agent, session: name.session });
  const checkpoints = await checkpointsOfSession(workspace, name.session);
  if (steps.length > 0) return fromSteps(name, steps.reverse(), checkpoints);
  const kept = keptSteps(workspace, name.agent, name.session);
  if (kept.length > 0) return withoutSteps(fromSteps(name, kept.reverse(), checkpoints));
  const imported = (await importedSessions(workspace)).find(
    ({ agent, session }) => agent === name.agent && session === name.session,
  );
  if (!imported) throw new CheckpointError("not-found", { kind: "session-gone" });
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

/** A session whose code states have expired: no turn of it can be restored. */
function withoutSteps(session: RecordedSession): RecordedSession {
  return { ...session, turns: session.turns.map((turn) => ({ ...turn, step: null })) };
}

/** Returns the sessions whose turns wrote lines of a commit, based on snapshots. */
export async function sessionsBehind(workspace: Workspace, commit: string): Promise<RecordedSession[]> {
  const turns = new Map<string, SessionRef & { turns: Set<number> }>();
  for (const { added } of (await attributeCommit(workspace, commit, { madeHere: false })).files) {
    for (const { author } of added) {
      if (!author) continue;
      const key = sessionRefKey(author);
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

function fromSteps(name: SessionRef, steps: readonly Step[], checkpoints: string[]): RecordedSession {
  const turns = new Map<number, RecordedTurn>();
  const uses = new Map<number, Use>();
  let last: Step | undefined;
  for (const step of steps) {
    if (step.transcript) last = step;
    if (step.turn === 0 || (step.kind !== "turn-start" && step.kind !== "turn-end")) continue;
    const known = turns.get(step.turn);
    if (step.tokens)
      uses.set(step.turn, {
        agent: step.agent,
        model: step.model,
        tokens: step.tokens,
        time: step.time,
        usd: step.usd,
      });
    turns.set(step.turn, {
      turn: step.turn,
      time: known?.time ?? step.time,
      prompt: step.prompt ?? known?.prompt ?? null,
      response: step.response ?? known?.response ?? null,
      files: changedPaths(step.files).sort(),
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
