/** The git worktree of a fork: made without running anybody's hooks, known again, and taken away. */
import { existsSync, realpathSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { readText, removeFile } from "../../base/files.ts";
import { shownPath } from "../../base/text.ts";
import { gitLocation } from "../../git/location.ts";
import { compareAndSwapRef } from "../../git/refs.ts";
import { git, gitText, tryGit } from "../../git/run.ts";
import { findWorkspace, type Workspace } from "../../git/workspace.ts";
import { NO_HOOKS, refusal, WORKTREE_TIMEOUT_MS } from "../../git/worktrees.ts";
import type { ForkRecord } from "../../steps/forks.ts";

const STILL_MADE_MS = 3_000;
const NOBODY = {
  GIT_AUTHOR_NAME: "Backtrail",
  GIT_AUTHOR_EMAIL: "backtrail@localhost",
  GIT_COMMITTER_NAME: "Backtrail",
  GIT_COMMITTER_EMAIL: "backtrail@localhost",
};

export async function addWorktree(workspace: Workspace, record: ForkRecord): Promise<void> {
  const { directory, branch, commit } = record;
  if (directory === null || branch === null) return;
  const { args, cwd } = gitLocation(workspace);
  const add = [...args, ...NO_HOOKS, "worktree", "add"];
  const how =
    commit === null
      ? ["--no-checkout", "--detach", directory, await emptyCommit(workspace)]
      : ["-b", branch, directory, commit];
  const made = await tryGit([...add, ...how], { cwd, timeoutMs: WORKTREE_TIMEOUT_MS });
  if (made.code !== 0) throw notMade(directory, made.stderr);
  if (commit === null) await beginAnew(directory, branch);
}

/** Where nothing is committed yet, there is nothing that a worktree could begin at: it gets a commit for a moment. */
async function emptyCommit(workspace: Workspace): Promise<string> {
  const { args, cwd } = gitLocation(workspace);
  const tree = await gitText([...args, "mktree"], { cwd, input: "" });
  return gitText([...args, "commit-tree", tree, "-m", "nothing"], { cwd, env: NOBODY });
}

async function beginAnew(directory: string, branch: string): Promise<void> {
  await git(["symbolic-ref", "HEAD", `refs/heads/${branch}`], { cwd: directory });
  await git(["read-tree", "--empty"], { cwd: directory });
}

/** git may still be making it, although nobody waits for it any more. */
export async function untilMade(workspace: Workspace, record: ForkRecord): Promise<void> {
  const deadline = performance.now() + STILL_MADE_MS;
  while (performance.now() < deadline) {
    const found = record.directory === null ? undefined : findWorkspace(record.directory);
    if (!found || found.commonDir !== workspace.commonDir || !existsSync(join(found.gitDir, "locked"))) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The work tree at the place where git says that it is now; undefined where there is none, or half of one. */
export function forkedWorktree(workspace: Workspace, record: ForkRecord): Workspace | undefined {
  const directory = placeOf(workspace, record);
  if (directory === null) return undefined;
  const found = findWorkspace(directory);
  if (!found || found.commonDir !== workspace.commonDir || found.root !== real(directory)) return undefined;
  // git holds this lock while it makes a worktree.
  const isWhole = readText(join(found.gitDir, "locked"))?.trim() !== "initializing";
  return isWhole && existsSync(join(found.gitDir, "index")) ? found : undefined;
}

/** The user may have moved it with `git worktree move`. */
export function placeOf(workspace: Workspace, { directory, worktree, kind }: ForkRecord): string | null {
  if (kind !== "worktree" || worktree === null) return directory;
  const link = readText(join(workspace.commonDir, "worktrees", worktree, "gitdir"))?.trim();
  return link ? dirname(link) : directory;
}

/** Only if it still is where `at` says: what was committed there is somebody's work. */
export async function removeBranch(workspace: Workspace, branch: string, at: string): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  // A git of ours that was killed may have left the branch's lock: that one is waited for.
  if (!(await compareAndSwapRef(workspace, ref, at, null))) return false;
  removeFile(join(workspace.commonDir, "logs", ref));
  await removeSettings(workspace, branch);
  return true;
}

/** Only where there are some: git locks its configuration to look for them. */
async function removeSettings(workspace: Workspace, branch: string): Promise<void> {
  const { args, cwd } = gitLocation(workspace);
  const { stdout } = await tryGit([...args, "config", "--local", "--name-only", "-z", "--list"], { cwd });
  const has = stdout
    .toString("utf8")
    .split("\0")
    .some((name) => name.startsWith(`branch.${branch}.`));
  if (has) await tryGit([...args, "config", "--remove-section", `branch.${branch}`], { cwd });
}

export async function branchTip(workspace: Workspace, branch: string): Promise<string | null> {
  const { args, cwd } = gitLocation(workspace);
  const found = await tryGit([...args, "rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`], { cwd });
  return found.code === 0 ? found.stdout.toString("latin1").trim() : null;
}

/** Whether a commit would be on no branch, tag or remote any more without this branch, or those that this pattern fits. */
export async function isOnlyOn(workspace: Workspace, branch: string, commit: string): Promise<boolean> {
  const { args, cwd } = gitLocation(workspace);
  const others = [`--exclude=${branch}`, "--branches", "--tags", "--remotes"];
  const left = await tryGit([...args, "rev-list", "--max-count=1", commit, "--not", ...others], { cwd });
  return left.code !== 0 || left.stdout.length > 0;
}

/** `<repository>.forks` (or `.runs`) goes with the last of them; a directory that the user chose stays. */
export function removeEmptyHome(directory: string): void {
  if (!/\.(?:forks|runs)$/.test(directory)) return;
  try {
    rmdirSync(directory);
  } catch {
    // Something is in it, or it is gone.
  }
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function notMade(directory: string, stderr: string): UserError {
  return new UserError(
    "failed",
    `The fork could not be made in ${shownPath(directory)}: ${refusal(stderr)}.`,
    "Give another place with --directory.",
  );
}
