/** Snapshots taken in this process, with or without a ref that holds them. */
import { type CaptureOptions, type Snapshot, startCapture } from "../../src/git/snapshot/snapshot.ts";
import type { Workspace } from "../../src/git/workspace.ts";
import type { TemporaryRepository } from "./repository.ts";

export const usualCapture: CaptureOptions = { maxFileSize: 50_000_000, maxTrackedSize: 500_000_000, exclude: [] };

/** What the next snapshot may build on only if this one is `remembered`. */
export async function captured(
  workspace: Workspace,
  options: Partial<CaptureOptions> & { remembered?: TemporaryRepository } = {},
): Promise<Snapshot> {
  const { remembered, ...changed } = options;
  const running = startCapture(workspace, { ...usualCapture, ...changed });
  try {
    const snapshot = await running.finish();
    running.writer.flush();
    if (remembered) {
      remembered.git("update-ref", `refs/backtrail/work/${workspace.worktree}`, snapshot.work);
      running.remember(`refs/backtrail/work/${workspace.worktree}`, snapshot);
    }
    return snapshot;
  } finally {
    running.close();
  }
}
