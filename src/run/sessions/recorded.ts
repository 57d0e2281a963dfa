/** Collects sessions from the recorded steps, in one pass over them, and imported sessions. */

import { importedSessions } from "../../checkpoints/import/store.ts";
import type { Workspace } from "../../git/workspace.ts";
import { sessionRefKey } from "../../model/session.ts";
import type { Step } from "../../model/step.ts";
import { addTokens, type Tokens } from "../../model/tokens.ts";
import { isAlive } from "../../recording/orphaned-turns.ts";
import { listSessions, type SessionState } from "../../recording/session/store.ts";
import { stepsIn } from "../../steps/log.ts";
import { estimatedCost, type Use } from "../../transcripts/prices.ts";
import type { SessionNode, SessionTask } from "./model.ts";

interface Counted {
  tokens: Tokens | null;
  /** The tokens of each turn, with the model that used them. */
  uses: Use[];
  /** True if the newest turn ended with an interrupt. */
  interrupted: boolean | null;
  tasks: Map<string, SessionTask>;
}

export function recordedNodes(workspace: Workspace): SessionNode[] {
  const counted = new Map<string, Counted>();
  for (const step of stepsIn(workspace).newestFirst()) {
    if (step.session === null || step.agent === null) continue;
    const key = sessionRefKey({ agent: step.agent, session: step.session });
    const known = counted.get(key) ?? { tokens: null, uses: [], interrupted: null, tasks: new Map() };
    counted.set(key, known);
    count(known, step);
  }
  return listSessions(workspace).map((state) =>
    nodeOf(state, counted.get(sessionRefKey({ agent: state.agent, session: state.id }))),
  );
}

function count(known: Counted, step: Step): void {
  if (step.kind === "turn-end") {
    known.interrupted ??= step.interrupted;
    if (step.tokens) {
      const { agent, model, tokens, time, usd } = step;
      known.tokens = known.tokens ? addTokens(known.tokens, tokens) : tokens;
      known.uses.push({ agent, model, tokens, time, usd });
    }
  }
  const { subagent } = step;
  // Steps come newest first, so the first one of a task shows how far it got.
  if (step.kind !== "task" || !subagent || known.tasks.has(subagent.id)) return;
  const { added, modified, deleted } = step.files;
  known.tasks.set(subagent.id, {
    id: subagent.id,
    type: subagent.type,
    description: subagent.description ?? step.prompt,
    turn: step.turn,
    step: step.id,
    ended: subagent.when === "end",
    files: added.length + modified.length + deleted.length,
  });
}

function nodeOf(state: SessionState, counted: Counted | undefined): SessionNode {
  return {
    id: state.id,
    agent: state.agent,
    status: statusOf(state, counted?.interrupted ?? false),
    parent: state.parent,
    prompt: state.title ?? "",
    model: state.model,
    tags: [],
    startedAt: state.startedAt,
    updatedAt: state.updatedAt,
    turns: state.turn,
    steps: state.steps,
    tokens: counted?.tokens ?? null,
    cost: counted?.tokens ? estimatedCost(counted.uses) : null,
    worktree: state.worktree,
    log: null,
    recorded: true,
    imported: false,
    tasks: [...(counted?.tasks.values() ?? [])].reverse(),
    children: [],
  };
}

function statusOf(state: SessionState, interrupted: boolean): SessionNode["status"] {
  if (state.openTurn !== null) return isAlive(state) ? "running" : "interrupted";
  if (state.phase !== "ENDED" && isAlive(state)) return "waiting";
  return interrupted ? "interrupted" : "completed";
}

export async function importedNodes(workspace: Workspace): Promise<SessionNode[]> {
  const sessions = await importedSessions(workspace);
  return sessions.map(({ agent, session, title, model, tokens, turns, importedAt }) => ({
    id: session,
    agent,
    status: "completed",
    parent: null,
    prompt: title ?? turns[0]?.prompt ?? "",
    model,
    tags: [],
    startedAt: turns[0]?.time ?? null,
    updatedAt: turns.findLast(({ time }) => time !== null)?.time ?? importedAt,
    turns: turns.length,
    steps: 0,
    tokens,
    cost: tokens && estimatedCost([{ agent, model, tokens, time: turns[0]?.time ?? null }]),
    worktree: null,
    log: null,
    recorded: false,
    imported: true,
    tasks: [],
    children: [],
  }));
}
