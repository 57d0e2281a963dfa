/**
 * Keeps the commits that `rewind --reset-head` moved branches away from: one ref each, named after the safety step and
 * kept as long as that step. Reflogs may also keep these commits, but not every repository has reflogs.
 */
import { gitIn } from "../git/git.ts";
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import type { Workspace } from "../git/workspace.ts";
import { stepsIn } from "./log.ts";

const LEFT_REFS = "refs/backtrail/left/";

/** Returns false if the ref could not be written. */
export async function holdLeftCommit(workspace: Workspace, safetyStep: string, commit: string): Promise<boolean> {
  const ref = LEFT_REFS + safetyStep;
  const before = await readRef(workspace, ref);
  return before === commit || compareAndSwapRef(workspace, ref, before, commit);
}

/** Deletes the refs of deleted steps. Call this after deleting steps. */
export async function releaseLeftCommits(workspace: Workspace): Promise<void> {
  const listed = await gitIn(workspace).text(["for-each-ref", "--format=%(refname) %(objectname)", LEFT_REFS]);
  if (listed === "") return;
  const alive = new Set(
    stepsIn(workspace)
      .newestFirst()
      .map(({ id }) => id),
  );
  for (const line of listed.split("\n")) {
    const [ref = "", commit = ""] = line.split(" ");
    if (!alive.has(ref.slice(LEFT_REFS.length))) await compareAndSwapRef(workspace, ref, commit, null);
  }
}
