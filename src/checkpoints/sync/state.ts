/**
 * What is known of each remote between two syncs, and the push that a push of the user's asked for. Written by whoever holds the
 * lock; the wish alone may be written by anybody, and is only taken away by whoever fulfilled that very one.
 */
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { readJson, removeFile, writeJson } from "../../base/files.ts";
import { logError } from "../../base/log.ts";
import type { Workspace } from "../../git/workspace.ts";

/** What happened last with one remote. */
export interface RemoteState {
  name: string;
  pushed: string | null;
  fetched: string | null;
  /** The last failure since it last went well. */
  error: { time: string; message: string } | null;
  /** In a row. */
  failures: number;
  /** Not tried again by itself before this. */
  next: string | null;
}

interface SyncState {
  v: 1;
  remotes: Record<string, RemoteState>;
}

/** A push of the user's that checkpoints are to follow. */
export interface Wish {
  v: 1;
  time: string;
  id: string;
}

/** Remotes' branches as they were last seen, by the remotes' keys. */
export const SYNC_REFS = "refs/backtrail/sync/";

const MINUTE = 60_000;
/** After the first failure, the second, …; the last for all that follow. */
const PAUSES = [1, 5, 15, 60, 240, 1440].map((minutes) => minutes * MINUTE);

/** Of every remote that was ever synced with. */
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

export function wishPush(workspace: Workspace): void {
  const wish: Wish = { v: 1, time: now().toISOString(), id: crypto.randomUUID() };
  writeJson(wishFile(workspace), wish);
}

export function wishedPush(workspace: Workspace): Wish | undefined {
  try {
    const wish = readJson(wishFile(workspace)) as Wish | undefined;
    return wish?.v === 1 && typeof wish.id === "string" && typeof wish.time === "string" ? wish : undefined;
  } catch {
    // A wish that cannot be read is one all the same; the next one replaces it.
    return { v: 1, time: now().toISOString(), id: "" };
  }
}

/** Unless another one has come since. */
export function fulfilled(workspace: Workspace, wish: Wish): void {
  if (wishedPush(workspace)?.id === wish.id) removeFile(wishFile(workspace));
}

/** A user's push tries at once, however long the pause would have been. */
export function isDue(wish: Wish, state: RemoteState | undefined): boolean {
  if (!state?.next || !state.error) return true;
  return now().toISOString() >= state.next || wish.time > state.error.time;
}

export function syncLock(workspace: Workspace): string {
  return join(directory(workspace), "lock");
}

export function directory(workspace: Workspace): string {
  return join(workspace.storeDir, "sync");
}

/** Its presence makes git's pre-push hook call us. */
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

function wishFile(workspace: Workspace): string {
  return join(directory(workspace), "wish.json");
}
