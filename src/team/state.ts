/** What the hub has of this repository, and what happened last. Only the holder of the lock writes it. */
import { join } from "node:path";
import { now } from "../base/clock.ts";
import { readJson, removeFile, writeJson } from "../base/fs/files.ts";
import { isRecord } from "../base/json.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";
import { teamDirectory } from "./sharing.ts";

export interface SendState {
  v: 1;
  /** The index that has everything; an index that was created again gets everything again. */
  generation: string | null;
  /** Grows with each request. */
  revision: number;
  /** The mark of each turn that the hub has acknowledged, by key. */
  sent: Record<string, string>;
  /** Forgotten sessions that the hub has acknowledged. */
  forgotten: string[];
  /** The choice of a level that the hub has acknowledged, by its time. */
  announced: string | null;
  lastSentAt: string | null;
  /** Why the last attempt failed; null after a success. */
  failure: Failure | null;
}

export interface Failure {
  time: string;
  kind: FailureKind;
  message: string;
  /** The number of consecutive failures. */
  count: number;
  /** No automatic attempt before this time; null: not before the user acts. */
  next: string | null;
}

/** `revoked`: the token is no longer valid. `outdated`: the hub speaks another version. Both need the user. */
export type FailureKind = "unreachable" | "busy" | "revoked" | "refused" | "outdated";

const SECOND = 1_000;
/** The pause after the first failure, the second, …; the last one repeats. */
const PAUSES = [30, 120, 600, 3_600, 14_400].map((seconds) => seconds * SECOND);

export function readSendState(workspace: Workspace): SendState {
  try {
    const value = readJson(stateFile(workspace));
    if (isRecord(value) && value["v"] === 1 && isRecord(value["sent"]) && Array.isArray(value["forgotten"]))
      return value as unknown as SendState;
  } catch (error) {
    // Everything is sent again, which changes nothing on the hub.
    logError("team", error);
  }
  return blankState();
}

export function blankState(): SendState {
  return {
    v: 1,
    generation: null,
    revision: 0,
    sent: {},
    forgotten: [],
    announced: null,
    lastSentAt: null,
    failure: null,
  };
}

export function writeSendState(workspace: Workspace, state: SendState): void {
  writeJson(stateFile(workspace), state, { sync: true });
}

export function removeSendState(workspace: Workspace): void {
  removeFile(stateFile(workspace));
}

/** Also larger than before a lost state file, as long as the clock does not run backwards. */
export function nextRevision(state: SendState): number {
  return Math.max(state.revision + 1, now().getTime());
}

export function failureAfter(
  before: Failure | null,
  kind: FailureKind,
  message: string,
  retryAfterSeconds = 0,
): Failure {
  const count = (before?.count ?? 0) + 1;
  const pause = Math.max(PAUSES[Math.min(count, PAUSES.length) - 1] ?? 0, retryAfterSeconds * SECOND);
  const isFinal = kind === "revoked" || kind === "outdated";
  const time = now();
  return {
    time: time.toISOString(),
    kind,
    message,
    count,
    next: isFinal ? null : new Date(time.getTime() + pause).toISOString(),
  };
}

export function isDue({ failure }: SendState): boolean {
  if (!failure) return true;
  return failure.next !== null && now().toISOString() >= failure.next;
}

export function sendLock(workspace: Workspace): string {
  return join(teamDirectory(workspace), "lock");
}

function stateFile(workspace: Workspace): string {
  return join(teamDirectory(workspace), "state.json");
}
