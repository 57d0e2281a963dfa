/** Resolves commits as targets: by any git revision, or by a checkpoint. */

import { isCheckpointName } from "../../checkpoints/format/layout.ts";
import { commitsNaming } from "../../checkpoints/links/history.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { CommitTarget } from "../types.ts";

export async function findCommit(workspace: Workspace, text: string): Promise<CommitTarget | undefined> {
  if (workspace.kind === "private" || text.includes("\0")) return undefined;
  const git = gitIn(workspace);
  const ask = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
  const commit = await git.try([...ask, `${text}^{commit}`]);
  const id = commit.stdout.toString("latin1").trim();
  if (commit.code !== 0 || !/^[0-9a-f]{40,64}$/.test(id)) return undefined;
  const tree = await git.try([...ask, `${id}^{tree}`]);
  if (tree.code !== 0) return undefined;
  return { kind: "commit", commit: id, tree: tree.stdout.toString("latin1").trim() };
}

/** The newest commit that carries a checkpoint. */
export async function commitOfCheckpoint(workspace: Workspace, id: string): Promise<CommitTarget | undefined> {
  const [commit] = isCheckpointName(id) ? await commitsNaming(workspace, id) : [];
  const target = commit && (await findCommit(workspace, commit.id));
  return target && { ...target, checkpoint: id };
}
