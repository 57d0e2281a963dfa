/** Deletes the conversation of a session's steps, but keeps their code and attribution. */

import { existsSync } from "node:fs";
import { acquire } from "../../base/fs/lock.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { rewriteIndex } from "../index-file.ts";
import { StepError } from "../problems.ts";
import { sessionLock } from "../session-tree.ts";
import { migrateSession } from "../upkeep/migrate.ts";
import { ownerKey } from "../upkeep/retention.ts";
import { recordsFile, removeTranscripts, rewriteSessionRecords } from "./files.ts";

const LOCK_WAIT_MS = 5_000;

/** Idempotent. */
export async function stripSession(workspace: Workspace, key: string): Promise<void> {
  const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
  if (!lock) throw new StepError("failed", { kind: "session-busy", change: "remove" });
  try {
    if (!(await migrateSession(workspace, key))) throw new StepError("failed", { kind: "session-changed" });
    removeTranscripts(workspace, key);
    const silence = (listed: Step[]) => listed.map((step) => (ownerKey(step) === key ? silent(step) : step));
    if (existsSync(recordsFile(workspace, key))) rewriteSessionRecords(workspace, key, silence);
    rewriteIndex(workspace, silence);
  } finally {
    lock.release();
  }
}

function silent(step: Step): Step {
  const subagent = step.subagent && { ...step.subagent, description: null };
  return { ...step, prompt: null, response: null, command: null, transcript: null, subagent };
}
