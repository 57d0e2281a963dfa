/**
 * One event in, its consequences out: the phase moves, steps are saved, the agent's user may get one line. The
 * snapshot starts before anything else and runs while the rest is read; the session's lock is held only from
 * deciding to writing.
 */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Agent } from "../agents/agent.ts";
import type { AgentContext, Event } from "../agents/event.ts";
import { now } from "../base/clock.ts";
import { sessionKey } from "../base/ids.ts";
import { acquire, type Lock, tryAcquire } from "../base/lock.ts";
import { log } from "../base/log.ts";
import { isInside } from "../base/paths.ts";
import { processStart } from "../base/processes.ts";
import type { Config } from "../config/load.ts";
import { type Capture, type Snapshot, startCapture } from "../git/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import { COMPACTION } from "../steps/model.ts";
import { finishSaves, saveStep } from "../steps/save.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { awaitCommits } from "./awaited-commits.ts";
import { agentOf, deadTurns, isDead } from "./dead-turns.ts";
import { isDestructive } from "./destructive.ts";
import { isOfTurnBefore, isOvertaken, isRepeated, rememberHearing } from "./hearing.ts";
import { recordingNotice } from "./notice.ts";
import { type PhaseEvent, transition } from "./phase.ts";
import { Session } from "./session.ts";
import { keyOf, loadSession, type SessionState, saveSession, setAsideSession, setMark } from "./session-state.ts";
import { type TierRule, takesStep, tierRules } from "./tiers.ts";

const LOCK_WAIT_MS = 10_000;

export interface Dispatch {
  workspace: Workspace;
  agent: Agent;
  event: Event;
  context: AgentContext;
  config: Config;
  /** Whose child the session is, if this is its beginning. */
  starter?: string | null;
}

export interface Dispatched {
  /** To be shown to the agent's user, through the agent. */
  notice: string | null;
  /** Something is left that is better done in the background. */
  background: boolean;
  /** And a worker that is busy may be past it. */
  again?: boolean;
}

const NOTHING: Dispatched = { notice: null, background: false };

export async function dispatch(input: Dispatch): Promise<Dispatched> {
  const { workspace, event, agent, config } = input;
  const key = sessionKey(agent.profile.id, event.sessionId);
  const rules = tierRules(config.tier, config.tiers);
  const seen = loadSession(workspace, key);
  const wanted = wants(input, seen, rules);
  if (!wanted.step && !wanted.state) return NOTHING;

  const capture = wanted.step ? startCapture(workspace, captureOptions(config)) : undefined;
  try {
    await lastWordsWritten(agent, event, seen);
    const snapshot = await capture?.finish();
    const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
    if (!lock)
      log("warn", "dispatcher", `Session ${key} stayed locked for ${LOCK_WAIT_MS} ms; went on without the lock.`);
    try {
      // What a killed hook of this session left is part of the state that this one begins with.
      await finishSaves(workspace, lock ? key : null);
      return await handle(input, key, rules, capture, snapshot);
    } finally {
      lock?.release();
    }
  } finally {
    capture?.close();
  }
}

/** A transcript may still be missing; but one that is a pipe or a device must not be waited for. */
function mayBeFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    return false;
  }
}

/** Agents write their transcripts behind their hooks. */
async function lastWordsWritten(agent: Agent, event: Event, seen: SessionState | undefined): Promise<void> {
  const ended = event.type === "TurnEnd" ? event.transcriptPath : null;
  const path = event.type === "SubagentEnd" ? (event.subagent?.transcriptPath ?? null) : ended;
  if (path === null || !agent.preparer || !mayBeFile(path)) return;
  await agent.preparer.waitForTurn(event, path, ended === null ? 0 : (seen?.openTurn?.offset ?? 0));
}

export function captureOptions(config: Config) {
  return { maxFileSize: config.capture.max_file_size, exclude: config.capture.exclude };
}

/** Whether the event needs a snapshot, and whether it changes the session at all: most tool events do neither. */
function wants(
  input: Dispatch,
  seen: SessionState | undefined,
  rules: readonly TierRule[],
): { step: boolean; state: boolean } {
  const { event } = input;
  const step = stepWanted(input, seen, rules);
  switch (event.type) {
    case "ToolStart":
      return { step, state: step || event.tool?.kind === "task" };
    case "ToolEnd": {
      const counts = step && (event.tool?.kind !== "todo" || event.subagent !== null);
      const besideTasks = event.subagent === null && (seen?.openTasks.some((task) => !task.shared) ?? false);
      return { step: counts, state: counts || besideTasks };
    }
    case "SessionEnd":
      return { step: seen !== undefined && seen.phase !== "ENDED", state: seen !== undefined };
    case "SessionStart":
      return {
        step: step || (seen?.openTurn ?? null) !== null || deadTurns(input.workspace, sessionKeyOf(input)).length > 0,
        state: true,
      };
    case "TurnStart":
      return { step: step || seen?.openTurn != null, state: true };
    default:
      return { step, state: true };
  }
}

function stepWanted(input: Dispatch, seen: SessionState | undefined, rules: readonly TierRule[]): boolean {
  const { event, workspace, context } = input;
  if (event.type === "SessionStart" && event.baseline) return true;
  const last = seen?.lastStep ? Date.parse(seen.lastStep.time) : 0;
  return takesStep(rules, {
    event: event.type,
    tool: event.tool?.kind ?? null,
    secondsSinceLastStep: (now().getTime() - last) / 1000,
    isDestructive: () =>
      isDestructive(event.tool?.command ?? "", (path) => {
        const target = resolve(context.cwd, path);
        return isInside(workspace.root, target) && existsSync(target);
      }),
  });
}

async function handle(
  input: Dispatch,
  key: string,
  rules: readonly TierRule[],
  capture: Capture | undefined,
  snapshot: Snapshot | undefined,
): Promise<Dispatched> {
  const { workspace, agent, event } = input;
  const time = now().toISOString();
  const state = loadSession(workspace, key) ?? freshState(input, key, time);
  if (isRepeated(state, event, time) || isOfTurnBefore(state, event)) return NOTHING;
  const known = state.revision > 0;
  meet(state, input, time);
  const session = new Session({ workspace, agent, state, time, leaf: event.metadata["leaf"] });
  let notice: string | null = null;
  if (isPhaseEvent(event.type)) notice = await move(session, input, event.type, rules, capture, snapshot);
  else await alongTheWay(session, event, capture, snapshot);

  const begins = event.type === "SessionStart" || event.type === "TurnStart";
  const dead = capture && snapshot && begins ? await closeDead(workspace, key, capture, snapshot) : [];
  let committed: boolean;
  try {
    // Before the save: killed in between, files wait for a commit that take part in no step yet, which does no harm.
    committed = await awaitCommits(workspace, [...dead.map((other) => other.session), session], capture);
    const requests = [...dead.flatMap((other) => other.session.saveRequests()), ...session.saveRequests()];
    if (capture) await saveStep(workspace, capture, requests);
    for (const other of dead) setMark(workspace, "active", keyOf(other.session.state), false);
  } finally {
    for (const other of dead) other.lock.release();
  }
  if (!session.hasSteps) saveSession(workspace, state);
  setMarks(workspace, key, state, known);
  const commits = input.config.strategy === "auto-commit" && event.type === "TurnEnd";
  const checks = input.config.checks.command.length > 0 && event.type === "TurnEnd";
  const background = committed || commits || checks || (capture?.wantsUpkeep ?? false);
  return { notice, background, again: commits };
}

/** Events that move the phase. */
async function move(
  session: Session,
  input: Dispatch,
  type: PhaseEvent,
  rules: readonly TierRule[],
  capture: Capture | undefined,
  snapshot: Snapshot | undefined,
): Promise<string | null> {
  const { event, workspace } = input;
  const { state } = session;
  const continuing = event.metadata["source"] === "compact" || isOvertaken(state, event);
  const next = transition(state.phase, type, { continuing });
  let notice: string | null = null;
  for (const action of next.actions) {
    switch (action) {
      case "Announce":
        notice = recordingNotice(workspace, keyOf(state));
        break;
      case "CloseOpenTurn":
        if (capture && snapshot && state.openTurn)
          await session.endTurn(capture, snapshot, null, type !== "SessionEnd");
        break;
      case "CaptureBefore":
        session.beginTurn(event, snapshot ?? null, stepWanted(input, state, rules));
        break;
      case "SaveStep":
        if (!capture || !snapshot) break;
        if (type === "Compaction") session.noticeTurn();
        if (type === "Compaction") await session.addPlain("tool", capture, snapshot, { command: COMPACTION });
        else if (type === "SessionEnd") await session.endSession(capture, snapshot);
        else await session.endTurn(capture, snapshot, event, event.metadata["error"] !== undefined);
        break;
      case "ResetTranscriptOffset":
        // The next tail tells whether the agent appended or rewrote: a rewrite begins a new generation.
        state.metadata["compactions"] = String(Number(state.metadata["compactions"] ?? 0) + 1);
        break;
      default:
        break;
    }
  }
  if (type === "SessionStart" && capture && snapshot && next.actions.length > 0 && stepWanted(input, state, rules)) {
    await session.addPlain("baseline", capture, snapshot);
  }
  state.phase = next.phase;
  return notice;
}

/** Events inside a turn. */
async function alongTheWay(
  session: Session,
  event: Event,
  capture: Capture | undefined,
  snapshot: Snapshot | undefined,
): Promise<void> {
  const { state } = session;
  if (event.subagent === null) for (const task of state.openTasks) task.shared = true;
  if (event.type === "ToolStart" && event.tool?.kind === "task") {
    state.announcedTasks = [...state.announcedTasks, announced(event)].slice(-20);
  }
  if (!capture || !snapshot) return;
  session.noticeTurn();
  if (event.type === "SubagentStart" && event.subagent) session.beginTask(event.subagent, snapshot);
  else if (event.type === "SubagentEnd" && event.subagent)
    await session.addTask(capture, snapshot, event.subagent, "end");
  else if (event.tool?.kind === "todo" && event.subagent)
    await session.addTask(capture, snapshot, event.subagent, "progress");
  else if (event.tool) {
    await session.addPlain("tool", capture, snapshot, {
      toolUseId: event.tool.id,
      command: event.tool.command ?? event.tool.name,
    });
  }
}

function announced(event: Event) {
  const { subagent, tool } = event;
  return {
    toolUseId: tool?.id ?? null,
    type: subagent?.type ?? null,
    description: subagent?.description ?? null,
    prompt: subagent?.prompt ?? null,
  };
}

/** Turns of other sessions whose agent is gone: their last state is what lies there now. */
async function closeDead(
  workspace: Workspace,
  ownKey: string,
  capture: Capture,
  snapshot: Snapshot,
): Promise<{ session: Session; lock: Lock }[]> {
  const closed: { session: Session; lock: Lock }[] = [];
  for (const key of deadTurns(workspace, ownKey).map(keyOf)) {
    // Somebody else may be closing it at the same time, or have done so by now.
    const lock = tryAcquire(sessionLock(workspace, key));
    const state = lock && loadSession(workspace, key);
    if (!lock || !state || !isDead(state)) {
      lock?.release();
      continue;
    }
    const session = new Session({ workspace, agent: await agentOf(state), state, time: now().toISOString() });
    state.revision++;
    await session.endTurn(capture, snapshot, null, true);
    closed.push({ session, lock });
  }
  return closed;
}

function sessionKeyOf(input: Dispatch): string {
  return sessionKey(input.agent.profile.id, input.event.sessionId);
}

function isPhaseEvent(type: Event["type"]): type is Exclude<PhaseEvent, "GitCommit"> {
  return (
    type === "SessionStart" ||
    type === "TurnStart" ||
    type === "TurnEnd" ||
    type === "Compaction" ||
    type === "SessionEnd"
  );
}

function freshState(input: Dispatch, key: string, time: string): SessionState {
  const { agent, event, workspace, context } = input;
  setAsideSession(workspace, key);
  return {
    v: 1,
    revision: 0,
    agent: agent.profile.id,
    id: event.sessionId,
    phase: "IDLE",
    turn: 0,
    steps: 0,
    worktree: workspace.worktree,
    parent: event.previousSessionId ?? input.starter ?? null,
    startedAt: time,
    updatedAt: time,
    title: null,
    model: event.model,
    cwd: context.cwd,
    process: null,
    metadata: {},
    transcript: null,
    lastStep: null,
    openTurn: null,
    announcedTasks: [],
    openTasks: [],
  };
}

/** What every event of a session tells anew. */
function meet(state: SessionState, input: Dispatch, time: string): void {
  const { event, context, workspace } = input;
  state.revision++;
  state.updatedAt = time;
  state.worktree = workspace.worktree;
  state.cwd = context.cwd;
  state.model = event.model ?? state.model;
  state.parent ??= event.previousSessionId;
  const begins = event.type === "TurnStart" || (event.type === "SessionStart" && state.openTurn === null);
  if (begins && event.tokensSoFar) state.tokensCounted = event.tokensSoFar;
  Object.assign(state.metadata, event.metadata);
  rememberHearing(state, event, time);
  if (context.pid !== null && state.process?.pid !== context.pid) {
    state.process = { pid: context.pid, start: processStart(context.pid) ?? null };
  }
  // Not the payload's own word: a hook inside a subagent may name that one's transcript.
  const path = event.transcriptPath;
  if (path && state.transcript?.path !== path) {
    const generation = state.transcript && state.transcript.stored > 0 ? state.transcript.generation + 1 : 0;
    state.transcript = { path, generation, stored: 0, mark: "", lastId: null };
  }
}

function setMarks(workspace: Workspace, key: string, state: SessionState, known: boolean): void {
  const active = state.openTurn !== null;
  setMark(workspace, "active", key, active);
  if (!known || state.phase === "ENDED" || state.phase === "IDLE")
    setMark(workspace, "open", key, state.phase !== "ENDED");
}
