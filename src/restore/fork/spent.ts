/**
 * Worktrees that runs have left: which of them are done with, and taking those away. One goes only where nothing in it is
 * nowhere else: its commits are on another branch, its files committed, and nobody is at work in it.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { processIn } from "../../base/process-cwd.ts";
import { isRunning } from "../../base/processes.ts";
import { plural, shownPath } from "../../base/text.ts";
import { gitLocation } from "../../git/location.ts";
import { tryGit } from "../../git/run.ts";
import { type RunWorktree, runWorktrees } from "../../git/run-worktrees.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../git/workspace.ts";
import { busy, disconnect, operationsIn } from "./drop.ts";
import { ignoredOnlyIn } from "./ignored.ts";
import { forgetWorktree, goingPlace, removeDirectory } from "./removal.ts";
import { branchTip, isOnlyOn, removeBranch, removeEmptyHome } from "./worktree.ts";

export interface RunStanding {
  worktree: RunWorktree;
  /** `empty`: nothing was ever done in it. `going`: somebody was taking it away, and was killed. */
  state: "empty" | "merged" | "going" | "kept";
  /** Why it is kept; null for those that can go. */
  why: string | null;
}

/** Branches of runs hold nothing for each other: they may all go at once. */
const RUN_BRANCHES = "run/*";
const REMOVED = "removed";

export async function runStandings(workspace: Workspace): Promise<RunStanding[]> {
  return Promise.all(
    runWorktrees(workspace).map(async (worktree) => ({ worktree, ...(await standingOf(workspace, worktree)) })),
  );
}

/** False where it is no longer as it was when somebody looked: then it stays. */
export async function removeRunWorktree(workspace: Workspace, { worktree }: RunStanding): Promise<boolean> {
  const { directory, branch } = worktree;
  const tip = await branchTip(workspace, branch);
  const { why } = await standingOf(workspace, worktree);
  if (why !== null) return false;
  const made = findWorkspace(directory);
  if (made && made.commonDir === workspace.commonDir && isEnabled(workspace)) await disconnect(made);
  removeDirectory(directory, REMOVED);
  await forgetWorktree(workspace, directory);
  removeEmptyHome(dirname(directory));
  if (tip !== null) await removeBranch(workspace, branch, tip);
  return true;
}

async function standingOf(workspace: Workspace, worktree: RunWorktree): Promise<Omit<RunStanding, "worktree">> {
  const { directory, branch, commit } = worktree;
  const tip = await branchTip(workspace, branch);
  if (tip !== null && (await isOnlyOn(workspace, RUN_BRANCHES, tip))) {
    return kept("it has commits that are on no other branch");
  }
  const made = findWorkspace(directory);
  if (made?.root !== directory || made.commonDir !== workspace.commonDir) {
    if (existsSync(directory)) return kept("what lies there is no worktree of this repository");
    // It may be on a disk that is not there just now, or have been moved by hand.
    return existsSync(goingPlace(directory, REMOVED))
      ? { state: "going", why: null }
      : kept("its directory is missing: `git worktree prune` forgets it");
  }
  const why =
    atWork(made, worktree) ?? (await unfinished(made, worktree)) ?? (await ownFiles(made, workspace)) ?? occupied(made);
  if (why !== null) return kept(why);
  return { state: tip === null || tip === commit ? "empty" : "merged", why: null };
}

function kept(why: string): Omit<RunStanding, "worktree"> {
  return { state: "kept", why };
}

function atWork(made: Workspace, { pid, start }: RunWorktree): string | null {
  if (isRunning(pid, start ?? undefined)) return "its run is still under way";
  return isEnabled(made) && busy(made).length > 0 ? "an agent is at work there" : null;
}

/** Looked at last: it may be but a moment's, such as our own worker, and what lies there says more. */
function occupied(made: Workspace): string | null {
  const pid = processIn(made.root);
  return pid === undefined ? null : `process ${pid} is at work there`;
}

/** What the user has taken over is theirs: another branch, or none, or a lock. */
async function unfinished(made: Workspace, { branch }: RunWorktree): Promise<string | null> {
  if (existsSync(join(made.gitDir, "locked"))) return "it is locked";
  const [operation] = operationsIn(made);
  if (operation !== undefined) return `${operation.toLowerCase()} is under way there`;
  const { args, cwd } = gitLocation(made);
  const head = await tryGit([...args, "symbolic-ref", "--quiet", "HEAD"], { cwd });
  const on = head.stdout.toString("utf8").trim();
  if (on === `refs/heads/${branch}`) return null;
  return on === "" ? "it is on no branch" : `it is on another branch, ${shownPath(on.replace(/^refs\/heads\//, ""))}`;
}

async function ownFiles(made: Workspace, workspace: Workspace): Promise<string | null> {
  const { args, cwd } = gitLocation(made);
  const ask = ["--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"];
  const status = await tryGit([...args, ...ask], { cwd });
  if (status.code !== 0) return "what is changed there can't be told";
  const count = status.stdout.toString("latin1").split("\0").length - 1;
  if (count > 0) return `${plural(count, "file")} there ${count === 1 ? "is" : "are"} not committed`;
  if (await hidesChanges(made)) return "git is told not to look at files in it";
  if (existsSync(join(made.gitDir, "modules"))) return "it has submodules of its own";
  const [ignored, ...more] = await ignoredOnlyIn(made, workspace.root);
  if (ignored === undefined) return null;
  if (more.length === 0) return `${shownPath(ignored)} is only there, and git ignores it`;
  return `${shownPath(ignored)} and ${plural(more.length, "more path")} are only there, and git ignores them`;
}

/** Files that are marked as unchanged, or as not checked out, are not in git's status, whatever is in them. */
async function hidesChanges(made: Workspace): Promise<boolean> {
  const { args, cwd } = gitLocation(made);
  const { code, stdout } = await tryGit([...args, "ls-files", "-v", "-z"], { cwd });
  return code !== 0 || /(?:^|\0)(?:[a-z]|S) /.test(stdout.toString("latin1"));
}
