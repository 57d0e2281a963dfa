/** Records the files of ended turns as pending for the next commit. */

import { addPendingFiles, readPending } from "../checkpoints/write/pending.ts";
import type { Capture } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import { changedPaths } from "../model/changes.ts";
import type { Session } from "./session/session.ts";
import { keyOf } from "./session/store.ts";

/** Returns true if a checkpoint can be completed because the turn that contains its commit has ended. */
export async function recordPendingFiles(
  workspace: Workspace,
  sessions: readonly Session[],
  capture: Capture | undefined,
): Promise<boolean> {
  if (workspace.kind === "private" || !capture) return false;
  let complete = false;
  for (const session of sessions) {
    const ended = session.saveRequests().filter(({ step }) => step.kind === "turn-end");
    if (ended.length === 0) continue;
    const key = keyOf(session.state);
    const unfinished = readPending(workspace, key).unfinished.length > 0;
    let files = ended.flatMap(({ step }) => changedPaths(step.files));
    if (unfinished && files.length > 0) {
      const { uncommitted } = await import("../checkpoints/write/staged-changes.ts");
      files = await uncommitted(workspace, capture.trees, ended.at(-1)?.step.snapshot.work ?? null, files);
    }
    addPendingFiles(workspace, key, files);
    complete ||= unfinished;
  }
  return complete;
}
