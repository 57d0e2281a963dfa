/**
 * A repository of its own for a throwaway copy, which borrows the objects of the user's: git works in it, and
 * nothing that a command does with it reaches the user's branches, index or stash.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { TrialState } from "./model.ts";

export async function makeRepository(workspace: Workspace, tree: string): Promise<boolean> {
  // A folder without git has none in its copies either.
  if (workspace.kind === "private" || workspace.commonDir.includes("\n")) return false;
  await git(["init", "--quiet", "--template=", `--object-format=${workspace.hash}`, tree], { cwd: tree });
  mkdirSync(join(tree, ".git", "objects", "info"), { recursive: true });
  writeFileSync(join(tree, ".git", "objects", "info", "alternates"), `${join(workspace.commonDir, "objects")}\n`);
  return true;
}

/** HEAD and what is staged, as they were. A step outlives its commit: then there is no HEAD. */
export async function pointRepository(tree: string, state: TrialState): Promise<void> {
  const cwd = tree;
  if (!existsSync(join(tree, ".git"))) return;
  const head = state.head === null ? 1 : (await tryGit(["update-ref", "--no-deref", "HEAD", state.head], { cwd })).code;
  if (head !== 0) await tryGit(["symbolic-ref", "HEAD", "refs/heads/main"], { cwd });
  await tryGit(["read-tree", "--reset", state.index], { cwd });
  await tryGit(["update-index", "-q", "--refresh"], { cwd });
}
