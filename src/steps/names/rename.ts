/** Renames a step, or removes its name, in both lists that contain its record. */

import { existsSync } from "node:fs";
import { acquire } from "../../base/fs/lock.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { recordsFile, rewriteSessionRecords } from "../conversation/files.ts";
import { rewriteIndex } from "../index-file.ts";
import { StepError } from "../problems.ts";
import { sessionLock } from "../session-tree.ts";
import { ownerKey } from "../upkeep/retention.ts";

const LOCK_WAIT_MS = 5_000;

/** Idempotent. */
export async function renameStep(workspace: Workspace, step: Step, name: string | null): Promise<void> {
  const key = ownerKey(step);
  const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
  if (!lock) throw new StepError("failed", { kind: "session-busy", change: "rename" });
  try {
    const rename = (listed: Step[]) => listed.map((one) => (one.id === step.id ? { ...one, name } : one));
    if (existsSync(recordsFile(workspace, key))) rewriteSessionRecords(workspace, key, rename);
    rewriteIndex(workspace, rename);
  } finally {
    lock.release();
  }
}
