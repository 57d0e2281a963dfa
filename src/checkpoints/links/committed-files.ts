/** Lists commits that are linked to checkpoints, and the files that a commit changed. */
import { decodePath } from "../../base/fs/path-bytes.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type LinkedCommit, recentCommits } from "./history.ts";

const MAX_COMMITS = 2_000;

/** The newest commits of all branches that have a checkpoint, oldest first. */
export async function linkedCommits(workspace: Workspace): Promise<LinkedCommit[]> {
  const commits = await recentCommits(workspace, MAX_COMMITS, true);
  return commits.filter(({ checkpoints }) => checkpoints.length > 0).reverse();
}

export async function committedFiles(workspace: Workspace, commit: string): Promise<string[]> {
  const list = ["diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", "-m", "--first-parent", commit];
  const { code, stdout } = await gitIn(workspace).try(list);
  if (code !== 0) return [];
  const files: string[] = [];
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0, at);
    files.push(decodePath(stdout.subarray(at, end)));
    at = end + 1;
  }
  return files;
}
