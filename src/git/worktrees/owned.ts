/**
 * Manages the linked worktrees of forks and runs. Git's record (`.git/worktrees/<name>/`) carries the fork's or run's
 * id even before the directory exists, first as git's lock reason, then in a mark file. A directory is ours only if its
 * `.git` file and a marked record point to each other.
 */
import { lstatSync, readFileSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { faultPoint } from "../../base/fault-point.ts";
import { namesIn, readJson, readText, removeFile, writeJson } from "../../base/fs/files.ts";
import { gitIn } from "../git.ts";
import { compareAndSwapRef } from "../refs.ts";
import { tryGit } from "../run.ts";
import { findWorkspace, type Workspace } from "../workspace.ts";
import { NO_HOOKS, refusal, WORKTREE_TIMEOUT_MS } from "./create.ts";

export interface Owner {
  kind: "fork" | "run";
  id: string;
}

export interface OwnedWorktree {
  /** Git's record of the worktree. */
  adminDir: string;
  /** The worktree's path according to git; null until git has recorded it. */
  directory: string | null;
  /**
   * `linked`: the directory and the record point to each other. `missing`: the directory does not exist. `unlinked`:
   * the directory exists but does not point to the record.
   */
  state: "linked" | "missing" | "unlinked";
  /** The worktree is still being created, or its creator was killed. */
  unfinished: boolean;
}

export interface NewWorktree {
  directory: string;
  branch: string;
  /** The branch's first commit; null for a branch without commits. */
  commit: string | null;
}

const EMPTY_COMMIT_AUTHOR = {
  GIT_AUTHOR_NAME: "Backtrail",
  GIT_AUTHOR_EMAIL: "backtrail@localhost",
  GIT_COMMITTER_NAME: "Backtrail",
  GIT_COMMITTER_EMAIL: "backtrail@localhost",
};

/**
 * Creates a worktree and stores `details` in its mark. Returns null on success, or git's message; the caller can then
 * clean up what was created.
 */
export async function addOwnedWorktree(
  workspace: Workspace,
  place: NewWorktree,
  owner: Owner,
  details: object = {},
): Promise<string | null> {
  const { args, cwd } = gitIn(workspace);
  const { directory, branch, commit } = place;
  if (commit !== null) {
    const refused = await createBranch(workspace, branch, commit, owner);
    if (refused !== null) return refused;
  }
  faultPoint("worktree:branch");
  // Git writes the lock reason before it creates the directory, so we can recognize our files after a kill.
  const lock = ["--no-checkout", "--lock", "--reason", lockReason(owner)];
  const start = commit === null ? ["--detach", directory, await emptyCommit(workspace)] : [directory, branch];
  const add = [...args, ...NO_HOOKS, "worktree", "add", ...lock, ...start];
  const added = await tryGit(add, { cwd, timeoutMs: WORKTREE_TIMEOUT_MS });
  if (added.code !== 0) {
    if (commit !== null && !findOwned(workspace, owner)) await removeOwnBranch(workspace, branch, commit, owner);
    return refusal(added.stderr);
  }
  faultPoint("worktree:added");
  const made = findOwned(workspace, owner);
  if (made?.state !== "linked") return "the new worktree is not there";
  writeJson(markFile(made.adminDir, owner.kind), { v: 1, ...details, id: owner.id }, { sync: true });
  faultPoint("worktree:marked");
  const refused = commit === null ? await startUnborn(directory, branch) : await checkOut(directory);
  if (refused !== null) return refused;
  removeFile(join(made.adminDir, "locked"));
  return null;
}

/** Finds git's record of the owner's worktree by its mark or lock. */
export function findOwned({ kind, commonDir }: Workspace, owner: Owner): OwnedWorktree | undefined {
  if (kind !== "repository") return undefined;
  const home = join(commonDir, "worktrees");
  for (const name of namesIn(home)) {
    const adminDir = join(home, name);
    if (markIn(adminDir, owner.kind)?.["id"] === owner.id || isLockedBy(adminDir, owner)) {
      return { adminDir, ...linkOf(adminDir), unfinished: isLockedBy(adminDir, owner) };
    }
  }
  return undefined;
}

/** Finds a record by name, for forks older than marks. Returns undefined if the record has any mark. */
export function findUnmarked({ kind, commonDir }: Workspace, name: string): OwnedWorktree | undefined {
  // The store uses another name for a worktree named "main".
  const adminDir = join(commonDir, "worktrees", name.replace(/^main~linked$/, "main"));
  if (kind !== "repository" || !exists(adminDir)) return undefined;
  if (markIn(adminDir, "fork") || markIn(adminDir, "run")) return undefined;
  return { adminDir, ...linkOf(adminDir), unfinished: false };
}

/** Reads a mark; undefined if it is missing or unreadable. */
export function markIn(adminDir: string, kind: Owner["kind"]): Record<string, unknown> | undefined {
  const file = markFile(adminDir, kind);
  try {
    const value = exists(file) ? readJson(file) : undefined;
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export function addToMark(adminDir: string, kind: Owner["kind"], details: object): void {
  const mark = markIn(adminDir, kind);
  if (mark) writeJson(markFile(adminDir, kind), { ...mark, ...details }, { sync: true });
}

/** Returns the workspace of a linked worktree. */
export function workspaceIn({ state, directory, adminDir }: OwnedWorktree): Workspace | undefined {
  const found = state === "linked" && directory !== null ? findWorkspace(directory) : undefined;
  if (!found || found.root !== real(directory) || real(found.gitDir) !== real(adminDir)) return undefined;
  // A killed git may have left an incomplete record.
  return real(found.commonDir) === real(dirname(dirname(adminDir))) ? found : undefined;
}

/**
 * Removes git's record of a worktree. Removes `gitdir` first, so that git no longer counts the worktree, and the mark
 * last, so that a kill in between leaves a record that is still known as ours.
 */
export function removeAdminDir({ adminDir }: OwnedWorktree, kind: Owner["kind"]): void {
  removeFile(join(adminDir, "gitdir"));
  const mark = basename(markFile(adminDir, kind));
  for (const name of namesIn(adminDir)) if (name !== mark) rmSync(join(adminDir, name), { recursive: true });
  removeFile(join(adminDir, mark));
  if (exists(adminDir)) rmdirSync(adminDir);
  try {
    rmdirSync(dirname(adminDir));
  } catch {
    // Other worktrees remain.
  }
}

/** Creates a new branch and never takes over an existing one. Returns null on success, or git's message. */
export async function createBranch(
  workspace: Workspace,
  branch: string,
  commit: string,
  owner: Owner,
): Promise<string | null> {
  const message = ["--create-reflog", "-m", reflogMessage(owner)];
  const made = await gitIn(workspace).try(["update-ref", ...message, `refs/heads/${branch}`, commit, ""]);
  return made.code === 0 ? null : refusal(made.stderr);
}

/** Whether the branch is unchanged since `createBranch` made it. */
export async function isOwnBranch(
  workspace: Workspace,
  branch: string,
  commit: string,
  owner: Owner,
): Promise<boolean> {
  const log = await gitIn(workspace).try(["reflog", "show", "--format=%H %gs", `refs/heads/${branch}`]);
  return log.code === 0 && log.stdout.toString("utf8").trim() === `${commit} ${reflogMessage(owner)}`;
}

async function removeOwnBranch(workspace: Workspace, branch: string, commit: string, owner: Owner): Promise<void> {
  const ref = `refs/heads/${branch}`;
  if (!(await isOwnBranch(workspace, branch, commit, owner))) return;
  if (await compareAndSwapRef(workspace, ref, commit, null)) removeFile(join(workspace.commonDir, "logs", ref));
}

function reflogMessage({ kind, id }: Owner): string {
  return `backtrail: ${kind} ${id}`;
}

function lockReason({ kind, id }: Owner): string {
  return `backtrail ${kind} ${id}`;
}

/** Whether git's lock names this owner. The lock exists from the start until the worktree is complete. */
export function isLockedBy(adminDir: string, owner: Owner): boolean {
  return readText(join(adminDir, "locked"))?.trim() === lockReason(owner);
}

function markFile(adminDir: string, kind: Owner["kind"]): string {
  return join(adminDir, `backtrail-${kind}.json`);
}

/** Checks out HEAD. Unlike `git worktree add`, never overwrites a file that has appeared in the directory. */
async function checkOut(directory: string): Promise<string | null> {
  const read = [...NO_HOOKS, "read-tree", "-m", "-u", "--no-recurse-submodules", "HEAD"];
  const done = await tryGit(read, { cwd: directory, timeoutMs: WORKTREE_TIMEOUT_MS });
  return done.code === 0 ? null : refusal(done.stderr);
}

/** Creates a temporary empty commit to start a worktree from, in a repository without commits. */
async function emptyCommit(workspace: Workspace): Promise<string> {
  const git = gitIn(workspace);
  const tree = (await git.try(["mktree"], { input: "" })).stdout.toString("latin1").trim();
  const made = await git.try(["commit-tree", tree, "-m", "nothing"], { env: EMPTY_COMMIT_AUTHOR });
  return made.stdout.toString("latin1").trim();
}

async function startUnborn(directory: string, branch: string): Promise<string | null> {
  for (const args of [
    ["symbolic-ref", "HEAD", `refs/heads/${branch}`],
    ["read-tree", "--empty"],
  ]) {
    const done = await tryGit(args, { cwd: directory });
    if (done.code !== 0) return refusal(done.stderr);
  }
  return null;
}

/** Returns the worktree's path according to its record, and whether that directory points back. */
export function linkOf(adminDir: string): Pick<OwnedWorktree, "directory" | "state"> {
  const written = readText(join(adminDir, "gitdir"))?.trim();
  if (!written) return { directory: null, state: "missing" };
  const directory = dirname(resolve(adminDir, written));
  if (!exists(directory)) return { directory, state: "missing" };
  return { directory, state: leadsTo(directory, adminDir) ? "linked" : "unlinked" };
}

/** Whether `directory` is a real directory, not a link, that points to this record. */
export function leadsTo(directory: string, adminDir: string): boolean {
  const isDirectory = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
  return isDirectory && real(gitFileTarget(directory)) === real(adminDir);
}

/** The target of a directory's `.git` file; null if there is none. */
export function gitFileTarget(directory: string): string | null {
  const file = join(directory, ".git");
  try {
    if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return null;
    const target = /^gitdir: (.*?)\r?\n?$/.exec(readFileSync(file, "utf8"))?.[1];
    return target ? resolve(directory, target) : null;
  } catch {
    return null;
  }
}

function real(path: string | null): string | undefined {
  try {
    return path === null ? undefined : realpathSync(path);
  } catch {
    return undefined;
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
