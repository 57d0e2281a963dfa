/** What ended turns leave for a commit to come: their files wait for it. */
import { addPendingFiles, readPending } from "../checkpoints/pending.ts";
import type { Capture } from "../git/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Session } from "./session.ts";
import { keyOf } from "./session-state.ts";

/** True when a checkpoint can be completed, because the turn that its commit was made in is over. */
export async function awaitCommits(
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
    let files = ended.flatMap(({ step }) => [...step.files.added, ...step.files.modified, ...step.files.deleted]);
    if (unfinished && files.length > 0) {
      const { uncommitted } = await import("../checkpoints/link.ts");
      files = await uncommitted(workspace, capture.trees, ended.at(-1)?.step.snapshot.work ?? null, files);
    }
    addPendingFiles(workspace, key, files);
    complete ||= unfinished;
  }
  return complete;
}
