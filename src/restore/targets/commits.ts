/** Resolves commits as targets: by any git revision, or by a checkpoint. */

import { isCheckpointName } from "../../checkpoints/format/layout.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { CommitTarget } from "../types.ts";

export async function findCommit(workspace: Workspace, text: string): Promise<CommitTarget | undefined> {
  if (workspace.kind === "private" || text.includes("\0")) return undefined;
  const git = gitIn(workspace);
  const commit = await git.resolve(`${text}^{commit}`);
  if (commit === null || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const tree = await git.resolve(`${commit}^{tree}`);
  return tree === null ? undefined : { kind: "commit", commit, tree };
}

/** The newest commit that carries a checkpoint. */
export async function commitOfCheckpoint(workspace: Workspace, id: string): Promise<CommitTarget | undefined> {
  if (!isCheckpointName(id)) return undefined;
  const { commitsNaming } = await import("../../checkpoints/links/history.ts");
  const [commit] = await commitsNaming(workspace, id);
  const target = commit && (await findCommit(workspace, commit.id));
  return target && { ...target, checkpoint: id };
}

/** Whether the checkpoint is here, although no commit may carry it. */
export async function isStoredCheckpoint(workspace: Workspace, id: string): Promise<boolean> {
  if (!isCheckpointName(id)) return false;
  const { CheckpointReader } = await import("../../checkpoints/read/read.ts");
  const reader = new CheckpointReader(workspace);
  try {
    return (await reader.find(id)) !== undefined;
  } finally {
    reader.close();
  }
}
