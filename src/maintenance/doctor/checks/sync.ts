/** Checks for checkpoints that failed to push, and for those that `git push` may include unintentionally. */
import { sharesCheckpoints } from "../../../checkpoints/branch/location.ts";
import { sharedBy } from "../../../checkpoints/branch/relocate.ts";
import { remoteStates } from "../../../checkpoints/sync/state.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { type Finding, ok, warning } from "../finding.ts";

export async function checkSync(workspace: Workspace): Promise<Finding[]> {
  const found = remoteStates(workspace).flatMap(({ name, error }) =>
    error ? [warning("sync", { kind: "push-failed", remote: name, time: error.time, reason: error.message })] : [],
  );
  const why = workspace.kind === "private" || sharesCheckpoints(workspace) ? null : await sharedBy(workspace);
  if (why !== null) found.push(warning("sync", { kind: "branch-stays-shared", why }));
  return found.length > 0 ? found : [ok("sync", { kind: "pushes-done" })];
}
