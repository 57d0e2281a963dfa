/** Steps without their conversation: what was asked and answered goes, the code and whose it was stays. */
import { UserError } from "../base/errors.ts";
import { acquire } from "../base/lock.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import { FILE_MODE, type TreeEntry, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { rewriteIndex, stepsNewestFirst } from "./index-file.ts";
import type { Step } from "./model.ts";
import { ownerKey } from "./retention.ts";
import { sessionLock, sessionRef, stepPath } from "./session-tree.ts";

const LOCK_WAIT_MS = 5_000;

/** Doing it twice changes nothing. */
export async function stripSession(workspace: Workspace, key: string): Promise<void> {
  const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
  if (!lock) throw new UserError("failed", "The session is busy.", "End its agent, then try again.");
  const reader = new ObjectReader(workspace);
  try {
    const writer = new ObjectWriter(workspace);
    const before = await readRef(workspace, sessionRef(key));
    const steps = [...stepsNewestFirst(workspace)].filter((step) => ownerKey(step) === key);
    if (before !== null) {
      const changes = new Map<string, TreeEntry | null>([
        ["transcript", null],
        ["tasks", null],
      ]);
      for (const step of steps) {
        const id = writer.add("blob", Buffer.from(`${JSON.stringify(silent(step))}\n`));
        changes.set(`${stepPath(step)}/step.json`, { mode: FILE_MODE, id });
      }
      const after = await new TreeStore(reader, writer).apply(before, changes);
      writer.flush();
      if (!(await compareAndSwapRef(workspace, sessionRef(key), before, after)))
        throw new UserError("failed", "The session has just changed.", "Try again in a moment.");
    }
    rewriteIndex(workspace, (listed) => listed.map((step) => (ownerKey(step) === key ? silent(step) : step)));
  } finally {
    reader.close();
    lock.release();
  }
}

function silent(step: Step): Step {
  const subagent = step.subagent && { ...step.subagent, description: null };
  return { ...step, prompt: null, response: null, command: null, transcript: null, subagent };
}
