/**
 * Checkpoints that are still to be written: one file each, on disk before the commit's hook answers, removed when the branch has
 * the checkpoint. Writing one twice does no harm.
 */
import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { readJson, removeFile, writeJson } from "../base/files.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";
import { isCheckpointId } from "./layout.ts";
import type { Moment } from "./pending.ts";

const BROKEN = ".broken";

export interface QueuedCheckpoint {
  v: 1;
  checkpoint: string;
  commit: string;
  /** Null when HEAD was detached. */
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
  /** Files of this session that the commit took. */
  files: string[];
  since: Moment;
  until: Moment;
  transcriptPath: string | null;
}

export function enqueue(workspace: Workspace, entry: QueuedCheckpoint): void {
  const name = `${String(Date.now()).padStart(15, "0")}-${entry.checkpoint}-${entry.sessions[0]?.key ?? ""}.json`;
  // Synced: the commit that names the checkpoint is on the disk as well.
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
    // Not removed: a person may still read from it which commit it was about.
    renameSync(path, `${path}${BROKEN}`);
    return [];
  });
}

/** Sessions that are to be forgotten; an entry without any left goes. */
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
  /** Ids of checkpoints, those first that wait longest. */
  checkpoints: string[];
  /** Since when the first waits, in milliseconds since 1970. */
  since: number | null;
  /** Names of what could not be read. */
  unreadable: string[];
}

/** By the names alone. Changes nothing. */
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
  if (typeof value !== "object" || value === null) return false;
  const { v, checkpoint, sessions } = value as Partial<QueuedCheckpoint>;
  return v === 1 && typeof checkpoint === "string" && isCheckpointId(checkpoint) && Array.isArray(sessions);
}
