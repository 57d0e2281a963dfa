/** The journal of a `forget`: what is left to delete, written before anything is deleted. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson, removeFile } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import type { Workspace } from "../../git/workspace.ts";

/** forget.json in the store: the data to delete. */
export interface Journal {
  v: 1;
  conversationOnly: boolean;
  sessions: { key: string; id: string }[];
  /** Single steps, by id. */
  steps: string[];
  /** Files and directories below the store. */
  files: string[];
  /** Logs of headless runs: outside the store, each named after its session. */
  runs: string[];
  /** Lines of the log that contain one of these words are deleted. */
  words: string[];
}

/** Whether a `forget` is unfinished. Changes nothing. */
export function isForgetting(workspace: Workspace): boolean {
  return existsSync(journalFile(workspace));
}

export function journalFile({ storeDir }: Workspace): string {
  return join(storeDir, "forget.json");
}

export function readJournal(workspace: Workspace): Journal | undefined {
  try {
    const journal = readJson(journalFile(workspace)) as Partial<Journal> | undefined;
    if (journal === undefined) return undefined;
    const { v, sessions, steps, files, runs, words } = journal;
    const texts = [steps, files, runs, words].every(
      (list) => Array.isArray(list) && list.every((item) => typeof item === "string"),
    );
    const named =
      Array.isArray(sessions) &&
      sessions.every((one) => /^[0-9a-f]{20}$/.test(String(one?.key)) && typeof one.id === "string");
    if (v === 1 && texts && named) return journal as Journal;
    throw new Error("What was to be forgotten can't be read any more.");
  } catch (error) {
    logError("forget", error);
    removeFile(journalFile(workspace));
    return undefined;
  }
}
