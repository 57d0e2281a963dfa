/**
 * Finds and removes finished worktrees of runs. Removes one only if it holds nothing unique: its commits are on
 * another branch, its files are committed byte for byte, and no process works in it.
 */
import { existsSync, lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { faultPoint } from "../../base/fault-point.ts";
import { readJson, writeJson } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import { isRunning } from "../../base/process/processes.ts";
import { pathsAtNul } from "../../git/conversion/conversion.ts";
import { gitIn } from "../../git/git.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../git/workspace.ts";
import { gitFileTarget, linkOf, removeAdminDir, workspaceIn } from "../../git/worktrees/owned.ts";
import { type RunWorktree, runWorktrees } from "../../git/worktrees/runs.ts";
import { type GitOperation, isInTurn, operationsIn, processAt } from "../owned/activity.ts";
import { holdCommits, type WorktreeCommits, worktreeCommits } from "../owned/commits.ts";
import { compareContents } from "../owned/contents.ts";
import { ignoredFiles } from "../owned/ignored.ts";
import { finishRemoval, isRemoval, newRemoval, type Removal, removalState, setAside } from "../owned/removal.ts";
import { nestedRepositories } from "../owned/repositories.ts";
import { forgetWorktreeHooks } from "./drop/removal.ts";
import { branchTip, removeBranch, removeEmptyHome } from "./worktree.ts";

export interface RunWorktreeStatus {
  worktree: RunWorktree;
  /** `empty`: never used. `going`: a removal was killed. */
  state: "empty" | "merged" | "going" | "kept";
  /** The reason to keep it; null if it can be removed. */
  why: KeepReason | null;
}

/** Why a run's worktree must stay. */
export type KeepReason =
  | { kind: "directory-missing" | "not-a-worktree" | "not-linked" | "unmerged-commits" | "run-active" | "agent-active" }
  | { kind: "locked" | "detached" | "state-unknown" | "unreadable" | "submodules" }
  | { kind: "process"; pid: number }
  | { kind: "git-operation"; operation: GitOperation }
  | { kind: "other-branch"; branch: string }
  | { kind: "uncommitted"; files: number }
  | { kind: "ignored-files"; path: string; more: number };

interface WorktreeFinding extends Omit<RunWorktreeStatus, "worktree"> {
  /** Paths and content ids that may be deleted with it. */
  held: ReadonlyMap<string, string>;
  commits: WorktreeCommits | null;
}

/** A run's branch does not protect another run's commits: all may be removed at once. */
const RUN_BRANCHES = "run/*";
const NOTHING: ReadonlyMap<string, string> = new Map();

export async function runWorktreeStatuses(workspace: Workspace): Promise<RunWorktreeStatus[]> {
  return Promise.all(
    runWorktrees(workspace).map(async (worktree) => {
      const { state, why } = await inspectWorktree(workspace, worktree);
      return { worktree, state, why };
    }),
  );
}

/** False if the worktree has changed since it was examined, so it stays. */
export async function removeRunWorktree(workspace: Workspace, { worktree }: RunWorktreeStatus): Promise<boolean> {
  const { branch, owned } = worktree;
  const tip = await branchTip(workspace, branch);
  const { state, why, held, commits } = await inspectWorktree(workspace, worktree);
  if (why !== null) return false;
  const id = removalId(worktree);
  if (commits) await holdCommits(workspace, `run-${id}`, commits);
  if (state !== "going") {
    const fork = workspaceIn(owned);
    if (!fork) return false;
    const removal = newRemoval(fork.root, id, workspace.hash, held, []);
    const save = () => writeJson(removalFile(worktree), removal, { sync: true });
    save();
    setAside(removal, save);
  }
  faultPoint("fork:renamed");
  const removal = readRemoval(worktree);
  const isAllGone = !removal || finishRemoval(removal) === null;
  faultPoint("fork:removed");
  const directory = removal?.directory ?? worktree.directory;
  if (isEnabled(workspace) && !lstatSync(directory, { throwIfNoEntry: false }))
    await forgetWorktreeHooks({ ...workspace, root: directory, worktree: basename(owned.adminDir) });
  if (linkOf(owned.adminDir).state === "linked") return false;
  removeAdminDir(owned, "run");
  removeEmptyHome(dirname(directory));
  if (tip !== null) await removeBranch(workspace, branch, tip);
  return isAllGone;
}

async function inspectWorktree(workspace: Workspace, worktree: RunWorktree): Promise<WorktreeFinding> {
  const { directory, branch, commit, owned } = worktree;
  const removal = readRemoval(worktree);
  const isGoing = removal?.begun || (removal && removalState(removal) === "begun") || owned.directory === null;
  if (isGoing) return { state: "going", why: null, held: NOTHING, commits: null };
  // The directory may be on an unmounted disk, or may have been moved by hand.
  if (owned.state === "missing") return kept({ kind: "directory-missing" });
  const made = workspaceIn(owned);
  if (!made) return kept(unlinked(directory));
  const commits = await worktreeCommits(workspace, branch, owned.adminDir, RUN_BRANCHES);
  if (commits.tip !== null) return kept({ kind: "unmerged-commits" });
  const pid = await processAt(made);
  const taken = atWork(made, worktree) ?? (await unfinished(made, worktree));
  if (taken !== null) return kept(taken);
  const { held, why } = await ownFiles(made, workspace, owned.unfinished);
  if (why !== null) return kept(why);
  // Checked last: a process may be short-lived, and the directory's content is a better reason.
  if (pid !== undefined) return kept({ kind: "process", pid });
  const tip = await branchTip(workspace, branch);
  return { state: tip === null || tip === commit ? "empty" : "merged", why: null, held, commits };
}

function kept(why: KeepReason): WorktreeFinding {
  return { state: "kept", why, held: NOTHING, commits: null };
}

function unlinked(directory: string): KeepReason {
  const isPlain = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() && gitFileTarget(directory) === null;
  return isPlain || findWorkspace(directory)?.root === directory ? { kind: "not-a-worktree" } : { kind: "not-linked" };
}

function atWork(made: Workspace, { pid, start }: RunWorktree): KeepReason | null {
  if (isRunning(pid, start ?? undefined)) return { kind: "run-active" };
  return isEnabled(made) && isInTurn(made) ? { kind: "agent-active" } : null;
}

/** A worktree that the user took over is theirs: another branch, a detached HEAD, or a lock. */
async function unfinished(made: Workspace, { branch, owned }: RunWorktree): Promise<KeepReason | null> {
  if (existsSync(join(made.gitDir, "locked")) && !owned.unfinished) return { kind: "locked" };
  const [operation] = operationsIn(made);
  if (operation !== undefined) return { kind: "git-operation", operation };
  const head = await gitIn(made).try(["symbolic-ref", "--quiet", "HEAD"]);
  const on = head.stdout.toString("utf8").trim();
  if (on === `refs/heads/${branch}`) return null;
  return on === "" ? { kind: "detached" } : { kind: "other-branch", branch: on.replace(/^refs\/heads\//, "") };
}

/**
 * The reason its files are not all held elsewhere, or else the files that are. An incomplete worktree has no index to
 * compare with.
 */
async function ownFiles(
  made: Workspace,
  workspace: Workspace,
  isUnfinished: boolean,
): Promise<{ held: Map<string, string>; why: KeepReason | null }> {
  const because = (why: KeepReason) => ({ held: new Map<string, string>(), why });
  const tree = await gitIn(made).resolve("HEAD^{tree}");
  if (tree === null) return because({ kind: "state-unknown" });
  const ignored = await ignoredFiles(made, workspace.root);
  const contents = await compareContents(made, made.root, { work: tree, raw: null }, new Set(ignored.paths));
  if (contents.blocked.length > 0) return because({ kind: "unreadable" });
  const listed = isUnfinished ? [] : await indexChanges(made, tree);
  if (!listed) return because({ kind: "state-unknown" });
  const count = new Set([...contents.unheld.map(({ path }) => path), ...listed]).size;
  if (count > 0) return because({ kind: "uncommitted", files: count });
  const nested = await nestedRepositories(made.root, contents.repositories, join(made.gitDir, "modules"));
  if (nested.length > 0) return because({ kind: "submodules" });
  const [own, ...more] = ignored.own;
  if (own === undefined) return { held: new Map([...contents.held, ...ignored.same]), why: null };
  return because({ kind: "ignored-files", path: own, more: more.length });
}

/** Paths whose staged version differs from the commit, or that are missing in the directory. */
async function indexChanges(made: Workspace, tree: string): Promise<string[] | undefined> {
  const git = gitIn(made);
  const staged = await git.try(["diff-index", "--cached", "--name-only", "-z", tree]);
  const deleted = await git.try(["ls-files", "--deleted", "-z"]);
  if (staged.code !== 0 || deleted.code !== 0) return undefined;
  return [...pathsAtNul(staged.stdout), ...pathsAtNul(deleted.stdout)];
}

function readRemoval(worktree: RunWorktree): Removal | undefined {
  try {
    const value = readJson(removalFile(worktree));
    return isRemoval(value, removalId(worktree)) ? value : undefined;
  } catch (error) {
    logError("reading what is left to remove of a run's worktree", error);
    return undefined;
  }
}

/** Marks of older versions have no id. */
function removalId({ id }: RunWorktree): string {
  return id ?? "removed";
}

function removalFile({ owned }: RunWorktree): string {
  return join(owned.adminDir, "backtrail-removal.json");
}
