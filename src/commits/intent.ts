/** commit-intent.json: what the hook before a commit hands to the hook after it. */

import { join } from "node:path";
import { readJson, removeFile } from "../base/fs/files.ts";
import { isRecord } from "../base/json.ts";
import { log } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";

/** What prepare-commit-msg hands to post-commit: commit-intent.json in the work tree's state. */
export interface Intent {
  v: 1;
  checkpoint: string;
  /** HEAD before the commit: while HEAD is unchanged, the commit has not been made. */
  head: string | null;
  /** Each session's files in the commit, and those with further changes left in the work tree (`left`). */
  sessions: { key: string; files: string[]; left: string[] }[];
}

export function intentFile(workspace: Workspace): string {
  return join(workspace.stateDir, "commit-intent.json");
}

/** A new commit may have replaced the intent of the finished one. */
export function removeIntent(workspace: Workspace, { checkpoint }: Intent): void {
  if (readIntent(workspace)?.checkpoint === checkpoint) removeFile(intentFile(workspace));
}

export function readIntent(workspace: Workspace): Intent | undefined {
  try {
    const intent = readJson(intentFile(workspace)) as Partial<Intent> | undefined;
    const { v, checkpoint, sessions } = intent ?? {};
    const isWhole = v === 1 && typeof checkpoint === "string" && Array.isArray(sessions) && sessions.every(isConcerned);
    return isWhole ? { v, checkpoint, head: intent?.head ?? null, sessions } : undefined;
  } catch (error) {
    log("warn", "commit", `What was found before the commit cannot be read: ${String(error)}`);
    return undefined;
  }
}

function isConcerned(value: unknown): value is Intent["sessions"][number] {
  if (!isRecord(value)) return false;
  const { key, files, left } = value as Partial<Intent["sessions"][number]>;
  return typeof key === "string" && /^[0-9a-f]+$/.test(key) && Array.isArray(files) && Array.isArray(left);
}
