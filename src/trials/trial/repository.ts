/**
 * Creates a separate repository for a throwaway copy that borrows the user's objects: git works in it, and no command
 * can reach the user's branches, index or stash.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { TrialState } from "../../steps/results/types.ts";

export async function makeRepository(workspace: Workspace, tree: string): Promise<boolean> {
  // A folder without git has no repository in its copies either.
  if (workspace.kind === "private" || workspace.commonDir.includes("\n")) return false;
  await git(["init", "--quiet", "--template=", `--object-format=${workspace.hash}`, tree], { cwd: tree });
  mkdirSync(join(tree, ".git", "objects", "info"), { recursive: true });
  writeFileSync(join(tree, ".git", "objects", "info", "alternates"), `${join(workspace.commonDir, "objects")}\n`);
  return true;
}

/** Sets HEAD and the index of the state. If the step's commit no longer exists, there is no HEAD. */
export async function pointRepository(tree: string, state: TrialState): Promise<void> {
  const cwd = tree;
  if (!existsSync(join(tree, ".git"))) return;
  const head = state.head === null ? 1 : (await tryGit(["update-ref", "--no-deref", "HEAD", state.head], { cwd })).code;
  if (head !== 0) await tryGit(["symbolic-ref", "HEAD", "refs/heads/main"], { cwd });
  await tryGit(["read-tree", "--reset", state.index], { cwd });
  await tryGit(["update-index", "-q", "--refresh"], { cwd });
}
