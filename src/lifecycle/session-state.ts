/**
 * What is known of a session between two hooks: one small file a session, replaced whole, together with the
 * step that changed it. docs/formats/sessions.md specifies it.
 */
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../base/errors.ts";
import { namesIn, readJson, removeFile, writeFileAtomic, writeJson } from "../base/files.ts";
import { sessionKey } from "../base/ids.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Tokens } from "../transcripts/model.ts";
import type { Phase } from "./phase.ts";

export interface SessionState {
  v: 1;
  /** Counts writes, so that a journal entry of a killed process never replaces something newer. */
  revision: number;
  agent: string;
  id: string;
  phase: Phase;
  turn: number;
  steps: number;
  worktree: string;
  /** The session that this one continues, or that started it. */
  parent: string | null;
  startedAt: string;
  updatedAt: string;
  /** The first prompt, shortened: how a person knows the session again. */
  title: string | null;
  model: string | null;
  cwd: string;
  process: { pid: number; start: string | null } | null;
  metadata: Record<string, string>;
  transcript: StoredTranscript | null;
  lastStep: { id: string; work: string; time: string } | null;
  openTurn: OpenTurn | null;
  /** Subagents that were asked for but have not started. */
  announcedTasks: AnnouncedTask[];
  openTasks: OpenTask[];
  /** The agent's running count of tokens, up to which they belong to turns that are over. */
  tokensCounted?: Tokens;
  /** The last events, by which a repeated one is known: two hooks may tell of the same. */
  recent?: { what: string; time: string }[];
}

export interface StoredTranscript {
  path: string;
  generation: number;
  /** Bytes of it that are in the store. */
  stored: number;
  /** Of the bytes just before `stored`: tells an append from a rewrite. */
  mark: string;
  lastId: string | null;
}

export interface OpenTurn {
  /** The turn's first step; null where the tier takes none. */
  startStep: string | null;
  /** The work tree when the turn began; null where it was not looked at. */
  work: string | null;
  prompt: string | null;
  /** An id that the agent gives the prompt, to know a repeated event by. */
  promptId: string | null;
  startedAt: string;
  /** Where in the transcript the turn begins. */
  offset: number;
  taskTokens: Tokens;
  taskFiles: string[];
}

export interface AnnouncedTask {
  toolUseId: string | null;
  type: string | null;
  description: string | null;
  prompt: string | null;
}

export interface OpenTask extends AnnouncedTask {
  id: string;
  work: string;
  /** The first step of the turn that started it: it may end after that turn. */
  startStep: string | null;
  startedAt: string;
  /** Somebody else worked at the same time: what changed is not all its own. */
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

/** A state that cannot be used would stand in the way of a new one, which counts its writes from the beginning. */
export function setAsideSession(workspace: Workspace, key: string): void {
  const file = stateFile(workspace, key);
  try {
    renameSync(file, `${file}.broken`);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** Enough of its shape that nobody stumbles over the rest. */
function isState(value: unknown): value is SessionState {
  if (!isObject(value)) return false;
  const { v, revision, agent, id, phase, turn, steps, metadata, announcedTasks, openTasks } = value;
  const nullable = [value["transcript"], value["lastStep"], value["openTurn"], value["process"]];
  return (
    v === 1 &&
    [revision, turn, steps].every(Number.isSafeInteger) &&
    [agent, id, phase].every((field) => typeof field === "string") &&
    [announcedTasks, openTasks].every(Array.isArray) &&
    isObject(metadata) &&
    nullable.every((field) => field === null || isObject(field))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function saveSession(workspace: Workspace, state: SessionState): void {
  writeJson(stateFile(workspace, keyOf(state)), state);
}

export function keyOf(state: Pick<SessionState, "agent" | "id">): string {
  return sessionKey(state.agent, state.id);
}

/** The owner of steps taken while no agent's session is known. */
export const NOBODY = "backtrail";

/** Sessions of agents, newest first. */
export function listSessions(workspace: Workspace): SessionState[] {
  const sessions: SessionState[] = [];
  for (const name of namesIn(join(workspace.storeDir, "sessions"))) {
    if (!name.endsWith(".json")) continue;
    const state = loadSession(workspace, name.slice(0, -".json".length));
    if (state && state.agent !== NOBODY) sessions.push(state);
  }
  return sessions.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
}

/**
 * Marks: which sessions of a work tree are open, and which are in a turn, by the names of empty files, so that a
 * hook looks at a few names and never at every session.
 */
export type Mark = "open" | "active";

export function setMark(workspace: Workspace, mark: Mark, key: string, present: boolean): void {
  const path = join(workspace.stateDir, mark, key);
  if (!present) removeFile(path);
  else if (!existsSync(path)) writeFileAtomic(path, "");
}

export function marked(workspace: Workspace, mark: Mark): string[] {
  return namesIn(join(workspace.stateDir, mark)).filter((name) => /^[0-9a-f]+$/.test(name));
}
