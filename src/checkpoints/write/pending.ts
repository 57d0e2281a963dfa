/**
 * A session's changes that no commit contains yet: one small file per session and work tree. The file's existence tells
 * a git hook that there is work to do. Written at the end of a turn and at a commit, under the session's lock.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readJson, removeFile, writeJson } from "../../base/fs/files.ts";
import { isRecord } from "../../base/json.ts";
import { logError } from "../../base/log.ts";
import type { Workspace } from "../../git/workspace.ts";

/** A moment in a session: turns up to `turn`, and the conversation up to `offset`. */
export interface TranscriptPosition {
  turn: number;
  generation: number;
  offset: number;
}

const BEGINNING: Readonly<TranscriptPosition> = { turn: 0, generation: 0, offset: 0 };

/** A checkpoint that was written while its turn was still running. */
export interface Unfinished {
  checkpoint: string;
  commit: string;
  branch: string | null;
  files: string[];
  since: TranscriptPosition;
  /** The turn that was running. */
  turn: number;
}

export interface Pending {
  v: 1;
  /** Paths relative to the work tree's root, sorted. */
  files: string[];
  unfinished: Unfinished[];
}

export function pendingKeys(workspace: Workspace): string[] {
  try {
    return readdirSync(pendingDirectory(workspace)).filter((name) => /^[0-9a-f]{20}$/.test(name));
  } catch {
    return [];
  }
}

export function readPending(workspace: Workspace, key: string): Pending {
  try {
    const found = readJson(join(pendingDirectory(workspace), key));
    if (isPending(found)) return found;
  } catch (error) {
    logError("pending files", error);
  }
  return { v: 1, files: [], unfinished: [] };
}

/** Deletes the file if nothing is left, so that hooks have no work to do. */
export function writePending(workspace: Workspace, key: string, { files, unfinished }: Omit<Pending, "v">): void {
  const path = join(pendingDirectory(workspace), key);
  if (files.length === 0 && unfinished.length === 0) removeFile(path);
  else writeJson(path, { v: 1, files: [...new Set(files)].sort(), unfinished });
}

export function addPendingFiles(workspace: Workspace, key: string, files: readonly string[]): void {
  const known = readPending(workspace, key);
  if (files.every((file) => known.files.includes(file))) return;
  writePending(workspace, key, { ...known, files: [...known.files, ...files] });
}

/** How far checkpoints already cover a session's conversation, and what the last checkpoint took. */
export interface Condensed {
  since: TranscriptPosition;
  last: { checkpoint: string; since: TranscriptPosition; files: string[] } | null;
}

export function readCondensed(workspace: Workspace, key: string): Condensed {
  try {
    const found = readJson(condensedFile(workspace, key));
    if (isRecord(found) && found["v"] === 1 && isMoment(found["since"])) {
      return { since: found["since"], last: isLast(found["last"]) ? found["last"] : null };
    }
  } catch (error) {
    logError("checkpoints so far", error);
  }
  return { since: { ...BEGINNING }, last: null };
}

export function writeCondensed(workspace: Workspace, key: string, condensed: Condensed): void {
  writeJson(condensedFile(workspace, key), { v: 1, ...condensed });
}

function condensedFile(workspace: Workspace, key: string): string {
  return join(workspace.storeDir, "checkpoints", `${key}.json`);
}

function pendingDirectory(workspace: Workspace): string {
  return join(workspace.stateDir, "pending");
}

function isPending(value: unknown): value is Pending {
  return isRecord(value) && value["v"] === 1 && Array.isArray(value["files"]) && Array.isArray(value["unfinished"]);
}

function isMoment(value: unknown): value is TranscriptPosition {
  return isRecord(value) && ["turn", "generation", "offset"].every((name) => Number.isSafeInteger(value[name]));
}

function isLast(value: unknown): value is NonNullable<Condensed["last"]> {
  return (
    isRecord(value) &&
    typeof value["checkpoint"] === "string" &&
    isMoment(value["since"]) &&
    Array.isArray(value["files"])
  );
}
