/**
 * The state of each remote between syncs, and the request to push after a push by the user. The holder of the lock
 * writes the state; any process may write the request, but only the process that fulfilled it deletes it.
 */
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { readJson, removeFile, writeJson } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import type { Workspace } from "../../git/workspace.ts";

/** The last results for one remote. */
export interface RemoteState {
  name: string;
  pushed: string | null;
  fetched: string | null;
  /** The last failure since the last success. */
  error: { time: string; message: string } | null;
  /** The number of consecutive failures. */
  failures: number;
  /** No automatic retry before this time. */
  next: string | null;
}

interface SyncState {
  v: 1;
  remotes: Record<string, RemoteState>;
}

/** A push by the user that checkpoints should follow. */
export interface PushRequest {
  v: 1;
  time: string;
  id: string;
}

/** The remotes' branches as last seen, by the remotes' keys. */
export const SYNC_REFS = "refs/backtrail/sync/";

const MINUTE = 60_000;
/** The pause after the first failure, the second, …; the last one repeats. */
const PAUSES = [1, 5, 15, 60, 240, 1440].map((minutes) => minutes * MINUTE);

/** Includes every remote that was ever synced with. */
export function remoteStates(workspace: Workspace): RemoteState[] {
  return Object.values(readState(workspace).remotes);
}

export function remoteState(workspace: Workspace, key: string): RemoteState | undefined {
  return readState(workspace).remotes[key];
}

export function succeeded(
  workspace: Workspace,
  remote: { key: string; name: string },
  what: "pushed" | "fetched",
): void {
  const before = remoteState(workspace, remote.key) ?? blank(remote.name);
  const time = now().toISOString();
  const kept = what === "pushed" ? { error: null, failures: 0, next: null } : {};
  change(workspace, remote.key, { ...before, ...kept, name: remote.name, [what]: time });
}

export function failed(workspace: Workspace, remote: { key: string; name: string }, message: string): void {
  const before = remoteState(workspace, remote.key) ?? blank(remote.name);
  const failures = before.failures + 1;
  const pause = PAUSES[Math.min(failures, PAUSES.length) - 1] ?? MINUTE;
  change(workspace, remote.key, {
    ...before,
    name: remote.name,
    error: { time: now().toISOString(), message },
    failures,
    next: new Date(now().getTime() + pause).toISOString(),
  });
}

export function requestPush(workspace: Workspace): void {
  const request: PushRequest = { v: 1, time: now().toISOString(), id: crypto.randomUUID() };
  writeJson(requestFile(workspace), request);
}

export function requestedPush(workspace: Workspace): PushRequest | undefined {
  try {
    const request = readJson(requestFile(workspace)) as PushRequest | undefined;
    return request?.v === 1 && typeof request.id === "string" && typeof request.time === "string" ? request : undefined;
  } catch {
    // An unreadable request still counts; the next one replaces it.
    return { v: 1, time: now().toISOString(), id: "" };
  }
}

/** Keeps the request if a newer one has replaced it. */
export function completeRequest(workspace: Workspace, request: PushRequest): void {
  if (requestedPush(workspace)?.id === request.id) removeFile(requestFile(workspace));
}

/** A push by the user retries immediately, regardless of the pause. */
export function isDue(request: PushRequest, state: RemoteState | undefined): boolean {
  if (!state?.next || !state.error) return true;
  return now().toISOString() >= state.next || request.time > state.error.time;
}

export function syncLock(workspace: Workspace): string {
  return join(directory(workspace), "lock");
}

export function directory(workspace: Workspace): string {
  return join(workspace.storeDir, "sync");
}

/** git's pre-push hook calls us only if this file exists; it names the remote for checkpoints. */
export function pushMark(workspace: Workspace): string {
  return join(workspace.storeDir, "push");
}

function change(workspace: Workspace, key: string, state: RemoteState): void {
  const { remotes } = readState(workspace);
  writeJson(stateFile(workspace), { v: 1, remotes: { ...remotes, [key]: state } } satisfies SyncState);
}

function blank(name: string): RemoteState {
  return { name, pushed: null, fetched: null, error: null, failures: 0, next: null };
}

function readState(workspace: Workspace): SyncState {
  try {
    const state = readJson(stateFile(workspace)) as SyncState | undefined;
    if (state?.v === 1 && typeof state.remotes === "object" && state.remotes !== null) return state;
  } catch (error) {
    logError("sync", error);
  }
  return { v: 1, remotes: {} };
}

function stateFile(workspace: Workspace): string {
  return join(directory(workspace), "state.json");
}

function requestFile(workspace: Workspace): string {
  return join(directory(workspace), "wish.json");
}
