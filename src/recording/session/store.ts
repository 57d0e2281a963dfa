/**
 * The state of a session between hooks: one small file per session, replaced as a whole together with the step that
 * changed it. docs/formats/sessions.md specifies the format.
 */

import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { namesIn, readJson, removeFile, writeFileAtomic, writeJson } from "../../base/fs/files.ts";
import { sessionKey } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import { logError } from "../../base/log.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Tokens } from "../../model/tokens.ts";
import type { Phase } from "../phase.ts";

export interface SessionState {
  v: 1;
  /** Counts writes, so that the journal entry of a killed process never replaces a newer state. */
  revision: number;
  agent: string;
  id: string;
  /** Only `applyEvent` changes the phase. */
  readonly phase: Phase;
  turn: number;
  steps: number;
  worktree: string;
  /** The session that this one continues, or that started it. */
  parent: string | null;
  startedAt: string;
  updatedAt: string;
  /** The first prompt, shortened, so that users recognize the session. */
  title: string | null;
  model: string | null;
  cwd: string;
  process: { pid: number; start: string | null } | null;
  metadata: Record<string, string>;
  transcript: StoredTranscript | null;
  lastStep: { id: string; work: string; time: string } | null;
  openTurn: OpenTurn | null;
  /** Subagents that were requested but have not started. */
  announcedTasks: AnnouncedTask[];
  openTasks: OpenTask[];
  /** The agent's running token count as of the last turn boundary. */
  tokensCounted?: Tokens;
  /** The most recent events, to recognize duplicates: two hooks may report the same event. */
  recent?: { what: string; time: string }[];
}

/** A session about which nothing else is known yet. */
export function newSessionState(
  known: Pick<SessionState, "agent" | "id" | "phase" | "worktree" | "parent" | "model" | "cwd">,
  time: string,
): SessionState {
  return {
    v: 1,
    revision: 0,
    ...known,
    turn: 0,
    steps: 0,
    startedAt: time,
    updatedAt: time,
    title: null,
    process: null,
    metadata: {},
    transcript: null,
    lastStep: null,
    openTurn: null,
    announcedTasks: [],
    openTasks: [],
  };
}

export interface StoredTranscript {
  path: string;
  generation: number;
  /** The number of bytes in the store. */
  stored: number;
  /** A digest of the bytes just before `stored`: distinguishes an append from a rewrite. */
  mark: string;
  lastId: string | null;
  /** The transcript is one document that the agent rewrites on every turn. */
  document?: true;
}

interface OpenTurn {
  /** The turn's first step; null if the tier takes none. */
  startStep: string | null;
  /** The work tree when the turn began; null if no snapshot was taken. */
  work: string | null;
  prompt: string | null;
  /** The agent's id for the prompt, to recognize a duplicate event. */
  promptId: string | null;
  startedAt: string;
  /** The transcript offset at which the turn begins. */
  offset: number;
  /** The last entry before the turn, for a transcript that is one document; absent in older states. */
  after?: string | null;
  taskTokens: Tokens;
  taskFiles: string[];
}

interface AnnouncedTask {
  toolUseId: string | null;
  type: string | null;
  description: string | null;
  prompt: string | null;
}

interface OpenTask extends AnnouncedTask {
  id: string;
  work: string;
  /** The first step of the turn that started the task; the task may end after that turn. */
  startStep: string | null;
  startedAt: string;
  /** Another task or the agent worked at the same time, so not every change belongs to this task. */
  shared: boolean;
}

export function stateFile(workspace: Workspace, key: string): string {
  return join(workspace.storeDir, "sessions", `${key}.json`);
}

export function loadSession(workspace: Workspace, key: string): SessionState | undefined {
  try {
    const state = readJson(stateFile(workspace, key));
    if (state === undefined || isState(state)) return state;
    throw new Error(`What is kept of session ${key} cannot be understood.`);
  } catch (error) {
    logError("session state", error);
    return undefined;
  }
}

/** Renames an unusable state, whose revision could otherwise exceed that of the new state. */
export function setAsideSession(workspace: Workspace, key: string): void {
  const file = stateFile(workspace, key);
  try {
    renameSync(file, `${file}.broken`);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** Validates the fields that other code reads without a check. */
function isState(value: unknown): value is SessionState {
  if (!isRecord(value)) return false;
  const { v, revision, agent, id, phase, turn, steps, metadata, announcedTasks, openTasks } = value;
  const nullable = [value["transcript"], value["lastStep"], value["openTurn"], value["process"]];
  return (
    v === 1 &&
    [revision, turn, steps].every(Number.isSafeInteger) &&
    [agent, id, phase].every((field) => typeof field === "string") &&
    [announcedTasks, openTasks].every(Array.isArray) &&
    isRecord(metadata) &&
    nullable.every((field) => field === null || isRecord(field))
  );
}

export function saveSession(workspace: Workspace, state: SessionState): void {
  writeJson(stateFile(workspace, keyOf(state)), state);
}

export function keyOf(state: Pick<SessionState, "agent" | "id">): string {
  return sessionKey(state.agent, state.id);
}

/** The owner of steps taken while no agent's session is known. */
export const NO_AGENT = "backtrail";

/** Sessions of agents, newest first. */
export function listSessions(workspace: Workspace): SessionState[] {
  const sessions: SessionState[] = [];
  for (const name of namesIn(join(workspace.storeDir, "sessions"))) {
    if (!name.endsWith(".json")) continue;
    const state = loadSession(workspace, name.slice(0, -".json".length));
    if (state && state.agent !== NO_AGENT) sessions.push(state);
  }
  return sessions.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
}

/** The session whose shell runs this process, if the session is recorded in this work tree. */
export function sessionOfShell(
  workspace: Workspace,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): SessionState | undefined {
  const { BACKTRAIL_SESSION_ID: id, BACKTRAIL_AGENT: agent } = environment;
  if (!id) return undefined;
  const named = listSessions(workspace).filter((state) => state.id === id && state.worktree === workspace.worktree);
  return named.find((state) => state.agent === agent) ?? named[0];
}

/**
 * Marks are empty files whose names list the open sessions of a work tree, and those with an open turn. With them a
 * hook reads a few file names instead of every session.
 */
export type Mark = "open" | "active";

export function setMark(workspace: Workspace, mark: Mark, key: string, present: boolean): void {
  const path = join(workspace.stateDir, mark, key);
  if (!present) removeFile(path);
  else if (!existsSync(path)) writeFileAtomic(path, "");
}

/** The directory of pending notices; restore-notices.ts reads and writes them. */
export const NOTICES = "notices";

export function noticesFile(workspace: Workspace, key: string): string {
  return join(workspace.stateDir, NOTICES, key);
}

export function marked(workspace: Workspace, mark: Mark): string[] {
  return namesIn(join(workspace.stateDir, mark)).filter((name) => /^[0-9a-f]+$/.test(name));
}
