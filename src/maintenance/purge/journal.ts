/** The journal of a purge: what is left to delete, written before anything is moved. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { OwnRef } from "./objects.ts";
import type { PurgeRequest } from "./plan.ts";

/** The directory in the store that holds what is being deleted, and the journal. */
export const ASIDE = "purging";

/** purging/purge.json in the store: the remaining work. */
export interface Journal {
  v: 1;
  /** The start time in milliseconds since 1970: newer objects stay. */
  began: number;
  request: PurgeRequest;
  refs: OwnRef[];
  objects: string[];
}

/** Whether a purge is unfinished. Changes nothing. */
export function isPurging(workspace: Workspace): boolean {
  return existsSync(journalFile(workspace));
}

export function journalFile({ storeDir }: Workspace): string {
  return join(storeDir, ASIDE, "purge.json");
}

export function readJournal(workspace: Workspace): Journal | undefined {
  try {
    const journal = readJson(journalFile(workspace)) as Partial<Journal> | undefined;
    const isWhole = journal?.v === 1 && Array.isArray(journal.refs) && Array.isArray(journal.objects);
    return isWhole ? (journal as Journal) : undefined;
  } catch (error) {
    logError("purge", error);
    return undefined;
  }
}
