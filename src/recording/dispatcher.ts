/**
 * Handles one event: updates the session's phase, saves steps, and may return a notice for the agent's user.
 * The snapshot starts first and runs while the transcript is awaited; the session lock is acquired only after it.
 */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Agent } from "../agents/contract/agent.ts";
import { now } from "../base/clock.ts";
import { acquire, type Lock, tryAcquire } from "../base/fs/lock.ts";
import { sessionKey } from "../base/ids.ts";
import { log } from "../base/log.ts";
import { isInside } from "../base/paths.ts";
import { processStart } from "../base/process/processes.ts";
import type { Config } from "../config/load.ts";
import { startCapture } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import type { AgentContext, Event, SubagentRef } from "../model/event.ts";
import { COMPACTION } from "../model/step.ts";
import { finishSaves, saveStep } from "../steps/save.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { isDuplicateEvent, isLateInterrupt, isLateSessionStart, rememberEvent } from "./duplicate-events.ts";
import { agentOf, isDead, orphanedTurns } from "./orphaned-turns.ts";
import { recordPendingFiles } from "./pending-files.ts";
import { type Action, applyEvent, type PhaseEvent } from "./phase.ts";
import type { PendingNotices } from "./restore-notices.ts";
import { type Captured, Session } from "./session/session.ts";
import {
  keyOf,
  loadSession,
  newSessionState,
  noticesFile,
  type SessionState,
  saveSession,
  setAsideSession,
  setMark,
} from "./session/store.ts";
import { isDestructive } from "./tiers/destructive.ts";
import { takesStep, tierRules } from "./tiers/tiers.ts";

const LOCK_WAIT_MS = 10_000;
/** Time limits for scanning and reading files. The hook itself times out after 20 s, or 8 s at a session's end. */
const PATIENCE_MS = { usual: 10_000, atSessionEnd: 4_000 } as const;

export interface Dispatch {
  workspace: Workspace;
  agent: Agent;
  event: Event;
  context: AgentContext;
  config: Config;
  /** The id of the session that started this one; used only when the session is new. */
  starter?: string | null;
  /** The capture that started before the event was parsed. Always closed. */
  captured?: Captured;
}

export interface Dispatched {
  /** Shown to the user by the agent. */
  notice: string | null;
  /** The background worker has work to do. */
  background: boolean;
  /** A worker that is already running may have passed this work and must run again. */
  again?: boolean;
  /** Context for the agent, sent with this prompt: the restores since the previous prompt. */
  context?: PendingNotices;
}

const NOTHING: Dispatched = { notice: null, background: false };

export async function dispatch(input: Dispatch): Promise<Dispatched> {
  try {
    return await dispatchOnce(input);
  } finally {
    input.captured?.capture.close();
  }
}

async function dispatchOnce(input: Dispatch): Promise<Dispatched> {
  const { workspace, event, agent, config } = input;
  const key = sessionKey(agent.profile.id, event.sessionId);
  const seen = loadSession(workspace, key);
  // Some agents announce each round of tools like a prompt.
  if (event.type === "TurnStart" && event.emptyPrompt && seen?.openTurn != null) return NOTHING;
  if (event.type === "TurnStart" && seen?.openTurn != null && isQueued(agent, event)) return NOTHING;
  const wanted = wants(input, seen);
  if (!wanted.step && !wanted.state) return NOTHING;

  const patienceMs = event.type === "SessionEnd" ? PATIENCE_MS.atSessionEnd : PATIENCE_MS.usual;
  const isNeeded = wanted.step && !input.captured;
  const capture = isNeeded ? startCapture(workspace, { ...captureOptions(config), patienceMs }) : undefined;
  try {
    await waitForTranscript(agent, event, seen);
    const own = capture && { capture, snapshot: await capture.finish() };
    const captured = wanted.step ? (input.captured ?? own) : undefined;
    const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
    if (!lock)
      log("warn", "dispatcher", `Session ${key} stayed locked for ${LOCK_WAIT_MS} ms; went on without the lock.`);
    try {
      // Finish what a killed hook of this session left behind before reading the session's state.
      await finishSaves(workspace, lock ? key : null);
      return await handle(input, key, captured);
    } finally {
      lock?.release();
    }
  } finally {
    capture?.close();
  }
}

/** Whether the prompt waits in the agent's queue while the turn continues. */
function isQueued({ isUsingTool }: Agent, { transcriptPath }: Event): boolean {
  return (
    isUsingTool !== undefined && transcriptPath !== null && mayBeFile(transcriptPath) && isUsingTool(transcriptPath)
  );
}

/** True for a missing transcript, which may still appear; false for a pipe or a device, which would block. */
function mayBeFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    return false;
  }
}

/** Agents may still be writing the transcript when they call the hook. */
async function waitForTranscript(agent: Agent, event: Event, seen: SessionState | undefined): Promise<void> {
  const ended = event.type === "TurnEnd" ? event.transcriptPath : null;
  const path = event.type === "SubagentEnd" ? (event.subagent?.transcriptPath ?? null) : ended;
  if (path === null || !agent.preparer || !mayBeFile(path)) return;
  await agent.preparer.waitForTurn(event, path, ended === null ? 0 : (seen?.openTurn?.offset ?? 0));
}

export function captureOptions(config: Config) {
  const { max_file_size, max_tracked_size, exclude, include } = config.capture;
  return { maxFileSize: max_file_size, maxTrackedSize: max_tracked_size, exclude, include };
}

/** Whether the event needs a snapshot, and whether it changes the session: most tool events do neither. */
function wants(input: Dispatch, seen: SessionState | undefined): { step: boolean; state: boolean } {
  const { event } = input;
  const step = stepWanted(input, seen);
  switch (event.type) {
    case "ToolStart":
      return { step, state: step || event.tool?.kind === "task" };
    case "ToolEnd": {
      const counts =
        unstartedTask(seen, event) !== null || (step && (event.tool?.kind !== "todo" || event.subagent !== null));
      const besideTasks = event.subagent === null && (seen?.openTasks.some((task) => !task.shared) ?? false);
      return { step: counts, state: counts || besideTasks };
    }
    case "SessionEnd":
      return { step: seen !== undefined && seen.phase !== "ENDED", state: seen !== undefined };
    case "SessionStart":
      return {
        step:
          step || (seen?.openTurn ?? null) !== null || orphanedTurns(input.workspace, sessionKeyOf(input)).length > 0,
        state: true,
      };
    // An open turn always gets an end, whatever the tier: without one, it could not be undone.
    case "TurnStart":
    case "TurnEnd":
      return { step: step || seen?.openTurn != null, state: true };
    default:
      return { step, state: true };
  }
}

function stepWanted(input: Dispatch, seen: SessionState | undefined): boolean {
  const { event, workspace, context, config } = input;
  if (event.type === "SessionStart" && event.baseline) return true;
  const last = seen?.lastStep ? Date.parse(seen.lastStep.time) : 0;
  return takesStep(tierRules(config.tier, config.tiers), {
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

/** The working state of one event. */
interface Handling {
  input: Dispatch;
  session: Session;
  /** Undefined if the event needs no step. */
  captured: Captured | undefined;
  /** For the agent's user. */
  notice: string | null;
}

async function handle(input: Dispatch, key: string, captured: Captured | undefined): Promise<Dispatched> {
  const { workspace, agent, event } = input;
  const time = now().toISOString();
  const state = loadSession(workspace, key) ?? freshState(input, key, time);
  if (isDuplicateEvent(state, event, time) || isLateInterrupt(state, event)) return NOTHING;
  const known = state.revision > 0;
  updateFromEvent(state, input, time);
  const session = new Session({ workspace, agent, state, time, leaf: event.metadata["leaf"] });
  const handling: Handling = { input, session, captured, notice: null };
  if (isPhaseEvent(event.type)) await handlePhaseEvent(handling, event.type);
  else await handleToolEvent(handling);

  const begins = event.type === "SessionStart" || event.type === "TurnStart";
  const dead = captured && begins ? await closeDead(workspace, key, captured) : [];
  const capture = captured?.capture;
  let committed: boolean;
  try {
    // Before the save: if the process is killed in between, pending files that no step contains yet do no harm.
    committed = await recordPendingFiles(workspace, [...dead.map((other) => other.session), session], capture);
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
  // Under the session lock, and never for a duplicate event, so that the agent receives each notice once.
  const context = await contextFor(input, key);
  return { notice: handling.notice, background, again: commits, ...(context ? { context } : {}) };
}

/** The restores since the session's last prompt. A prompt without any costs one `existsSync`. */
async function contextFor(
  { workspace, agent, event, config }: Dispatch,
  key: string,
): Promise<PendingNotices | undefined> {
  if (event.type !== "TurnStart" || !config.notify_agents || !agent.profile.hooks?.context_reply) return undefined;
  if (!existsSync(noticesFile(workspace, key))) return undefined;
  return (await import("./restore-notices.ts")).pendingNotices(workspace, key);
}

async function handlePhaseEvent(handling: Handling, type: PhaseEvent): Promise<void> {
  const { input, session, captured } = handling;
  const { event } = input;
  // A compaction belongs to a turn, even if the agent did not announce that turn.
  if (type === "Compaction" && captured) session.beginUnannouncedTurn();
  const continuing = event.metadata["source"] === "compact" || isLateSessionStart(session.state, event);
  for (const action of applyEvent(session.state, type, { continuing })) await HANDLERS[action](handling);
}

const HANDLERS: Record<Action, (handling: Handling) => void | Promise<void>> = {
  async Announce(handling) {
    const { recordingNotice } = await import("./notice.ts");
    handling.notice = recordingNotice(handling.input.workspace, keyOf(handling.session.state));
  },
  BeginTurn({ input, session, captured }) {
    session.beginTurn(input.event, captured?.snapshot ?? null, stepWanted(input, session.state));
  },
  async SaveTurnEnd({ input: { event }, session, captured }) {
    if (captured) await session.endTurn(captured, event, event.metadata["error"] !== undefined);
  },
  async SaveInterruptedTurn({ session, captured }) {
    if (captured && session.state.openTurn) await session.endTurn(captured, null, true);
  },
  async SaveCompaction({ session, captured }) {
    if (captured) await session.addStep("tool", captured, { command: COMPACTION });
  },
  async SaveBaseline({ input, session, captured }) {
    if (captured && stepWanted(input, session.state)) await session.addStep("baseline", captured);
  },
  async SaveSessionEnd({ session, captured }) {
    if (captured) await session.endSession(captured);
  },
};

/** Handles tool and subagent events, which do not change the phase. */
async function handleToolEvent({ input: { event }, session, captured }: Handling): Promise<void> {
  const { state } = session;
  if (event.subagent === null) for (const task of state.openTasks) task.shared = true;
  if (event.type === "ToolStart" && event.tool?.kind === "task") {
    state.announcedTasks = [...state.announcedTasks, announced(event)].slice(-20);
  }
  if (!captured) return;
  const unstarted = unstartedTask(state, event);
  session.beginUnannouncedTurn();
  if (event.type === "SubagentStart" && event.subagent) session.beginTask(event.subagent, captured.snapshot);
  else if (event.type === "SubagentEnd" && event.subagent) await session.addTask(captured, event.subagent, "end");
  else if (event.tool?.kind === "todo" && event.subagent) await session.addTask(captured, event.subagent, "progress");
  else if (unstarted !== null) {
    state.announcedTasks = state.announcedTasks.filter((task) => task.toolUseId !== unstarted.toolUseId);
    await session.addTask(captured, { ...unstarted, ...event.subagent }, "end");
  } else if (event.tool) {
    await session.addStep("tool", captured, {
      toolUseId: event.tool.id,
      command: event.tool.command ?? event.tool.name,
    });
  }
}

/**
 * The subagent that this tool call ran, if it was announced but never reported as started: older versions of Claude
 * Code call hooks only for the tool.
 */
function unstartedTask(state: SessionState | undefined, { type, tool }: Event): SubagentRef | null {
  if (type !== "ToolEnd" || tool?.kind !== "task" || tool.id === null) return null;
  const task = state?.announcedTasks.find(({ toolUseId }) => toolUseId === tool.id);
  return task ? { id: tool.id, transcriptPath: null, ...task } : null;
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

/** Closes turns of other sessions whose agent has exited, with the current snapshot as their final state. */
async function closeDead(
  workspace: Workspace,
  ownKey: string,
  captured: Captured,
): Promise<{ session: Session; lock: Lock }[]> {
  const closed: { session: Session; lock: Lock }[] = [];
  for (const key of orphanedTurns(workspace, ownKey).map(keyOf)) {
    // Another process may be closing the turn, or may already have closed it.
    const lock = tryAcquire(sessionLock(workspace, key));
    const state = lock && loadSession(workspace, key);
    if (!lock || !state || !isDead(state)) {
      lock?.release();
      continue;
    }
    const session = new Session({ workspace, agent: await agentOf(state), state, time: now().toISOString() });
    state.revision++;
    await session.endInterruptedTurn(captured);
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
  const known = {
    agent: agent.profile.id,
    id: event.sessionId,
    phase: "IDLE" as const,
    worktree: workspace.worktree,
    parent: event.previousSessionId ?? input.starter ?? null,
    model: event.model,
    cwd: context.cwd,
  };
  return newSessionState(known, time);
}

/** Updates the fields that every event carries. */
function updateFromEvent(state: SessionState, input: Dispatch, time: string): void {
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
  rememberEvent(state, event, time);
  if (context.pid !== null && state.process?.pid !== context.pid) {
    state.process = { pid: context.pid, start: processStart(context.pid) ?? null };
  }
  // Use the event's path, not the payload's: a hook inside a subagent may name the subagent's transcript.
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
