/**
 * The queue of checkpoints to write: one file each, on disk before the commit's hook returns, removed once the branch
 * has the checkpoint. Writing a checkpoint twice is harmless.
 */

import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { readJson, removeFile, writeJson } from "../../base/fs/files.ts";
import { isRecord } from "../../base/json.ts";
import { logError } from "../../base/log.ts";
import type { Workspace } from "../../git/workspace.ts";
import { isCheckpointId } from "../format/layout.ts";
import type { TranscriptPosition } from "./pending.ts";

const BROKEN = ".broken";

export interface QueuedCheckpoint {
  v: 1;
  checkpoint: string;
  commit: string;
  /** Null if HEAD was detached. */
  branch: string | null;
  strategy: string;
  time: string;
  sessions: QueuedSession[];
}

export interface QueuedSession {
  key: string;
  agent: string;
  id: string;
  model: string | null;
  /** Files of this session that the commit contains. */
  files: string[];
  since: TranscriptPosition;
  until: TranscriptPosition;
  transcriptPath: string | null;
}

export function enqueue(workspace: Workspace, entry: QueuedCheckpoint): void {
  const name = `${String(Date.now()).padStart(15, "0")}-${entry.checkpoint}-${entry.sessions[0]?.key ?? ""}.json`;
  // Sync to disk, because the commit that names the checkpoint is on disk as well.
  writeJson(join(queueDirectory(workspace), name), entry, { sync: true });
}

export function hasQueue(workspace: Workspace): boolean {
  return names(workspace).length > 0;
}

/** Oldest first. */
export function queued(workspace: Workspace): { entry: QueuedCheckpoint; done(): void }[] {
  return names(workspace).flatMap((name) => {
    const path = join(queueDirectory(workspace), name);
    try {
      const entry = readJson(path);
      if (entry === undefined) return [];
      if (isEntry(entry)) return [{ entry, done: () => removeFile(path) }];
      logError("checkpoint queue", `${name} cannot be understood and was set aside.`);
    } catch (error) {
      logError("checkpoint queue", error);
    }
    // Keep the file: a person may still find out from it which commit it was about.
    renameSync(path, `${path}${BROKEN}`);
    return [];
  });
}

/** Drops forgotten sessions from the queue, and deletes entries that have none left. */
export function dropFromQueue(workspace: Workspace, keys: ReadonlySet<string>): void {
  for (const name of names(workspace)) {
    const path = join(queueDirectory(workspace), name);
    try {
      const entry = readJson(path);
      if (!isEntry(entry) || !entry.sessions.some(({ key }) => keys.has(key))) continue;
      const sessions = entry.sessions.filter(({ key }) => !keys.has(key));
      if (sessions.length === 0) removeFile(path);
      else writeJson(path, { ...entry, sessions }, { sync: true });
    } catch (error) {
      logError("checkpoint queue", error);
    }
  }
}

export interface Waiting {
  /** Ids of checkpoints, longest waiting first. */
  checkpoints: string[];
  /** When the first one was queued, in milliseconds since 1970. */
  since: number | null;
  /** Names of unreadable entries. */
  unreadable: string[];
}

/** Looks only at file names. Read-only. */
export function waitingSince(workspace: Workspace): Waiting {
  const waiting = names(workspace).map((name) => name.split("-"));
  const first = Number(waiting[0]?.[0] ?? Number.NaN);
  const unreadable = all(workspace).filter((name) => name.endsWith(BROKEN));
  return {
    checkpoints: waiting.map(([, checkpoint = ""]) => checkpoint),
    since: Number.isFinite(first) ? first : null,
    unreadable,
  };
}

function names(workspace: Workspace): string[] {
  return all(workspace).filter((name) => name.endsWith(".json"));
}

function all(workspace: Workspace): string[] {
  try {
    return readdirSync(queueDirectory(workspace)).sort();
  } catch {
    return [];
  }
}

function queueDirectory(workspace: Workspace): string {
  return join(workspace.storeDir, "queue");
}

function isEntry(value: unknown): value is QueuedCheckpoint {
  if (!isRecord(value)) return false;
  const { v, checkpoint, sessions } = value as Partial<QueuedCheckpoint>;
  return v === 1 && typeof checkpoint === "string" && isCheckpointId(checkpoint) && Array.isArray(sessions);
}
