/**
 * Handles repositories nested in a directory of ours: submodules, stored in git's worktree record, and clones. One
 * that contains only what its remotes have is deleted with the directory; any other is kept whole, as a separate
 * repository next to the directory.
 */

import { lstatSync, realpathSync, statSync, unlinkSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { namesIn } from "../../base/fs/files.ts";
import { decodePath, onDisk } from "../../base/fs/path-bytes.ts";
import { isInside } from "../../base/paths.ts";
import { type GitResult, tryGit } from "../../git/run.ts";
import { findWorkspace, type Workspace } from "../../git/workspace.ts";
import { gitFileTarget } from "../../git/worktrees/owned.ts";
import { contentId } from "../apply/content.ts";
import { ForkError } from "../fork/problems.ts";
import { contentIdOf } from "./contents.ts";
import { moveDirectory } from "./removal.ts";
import { type WalkedFile, walk } from "./walk.ts";

export interface NestedRepository {
  /** Path relative to the directory; null for a submodule that is not checked out. */
  path: string | null;
  /** The repository, if it is inside git's worktree record. */
  gitDir: string | null;
  /** Describes what no remote has; null if nothing. */
  work: OwnWork | null;
  /** Repositories nested in this one. */
  inner: NestedRepository[];
}

/** A repository to move out before the directory is deleted. */
export interface KeptRepository {
  path: string | null;
  gitDir: string | null;
  to: string;
  /** Nested work trees and their repositories, both with their paths after the move. */
  inner: { directory: string; gitDir: string }[];
}

/** Content of a repository that no remote has, or why that is unknown. */
export type OwnWork = "unreadable" | "other-worktree" | "uncommitted-files" | "unpushed-commits";

/** `paths` are directories below `root` with a `.git`; `modulesDir` contains the repositories of submodules. */
export async function nestedRepositories(
  root: string,
  paths: readonly string[],
  modulesDir: string | null,
): Promise<NestedRepository[]> {
  const modules = modulesDir !== null && exists(modulesDir) ? realpathSync(modulesDir) : null;
  const found: NestedRepository[] = [];
  for (const path of paths) found.push(await inspect(onDisk(root, path).toString(), path, modules));
  const known = new Set(found.map(({ gitDir }) => gitDir));
  for (const gitDir of modules === null ? [] : repositoriesBelow(modules)) {
    if (known.has(gitDir)) continue;
    found.push({ path: null, gitDir, work: await ownCommits(["--git-dir", gitDir], "/"), inner: [] });
  }
  return found;
}

/** Chooses the new path of each repository with work. Throws if one can't be moved there. */
export function keptRepositories(nested: readonly NestedRepository[], directory: string): KeptRepository[] {
  const withWork = nested.filter(({ work }) => work !== null);
  const home = freeName(`${directory}.kept`);
  return withWork.map(({ path, gitDir, inner }) => {
    if (gitDir !== null && statSync(gitDir).dev !== statSync(dirname(directory)).dev) {
      throw new ForkError("refused", { kind: "repository-elsewhere", path: path ?? basename(gitDir) });
    }
    const to = join(home, path ?? join("modules", basename(gitDir ?? "")));
    return { path, gitDir, to, inner: inner.flatMap((each) => movedWith(each, to, join(to, ".git"), gitDir)) };
  });
}

/** Repeatable after a kill. `root` is the directory's current path. */
export async function moveRepositories(root: string, kept: readonly KeptRepository[]): Promise<void> {
  for (const { path, gitDir, to, inner } of kept) {
    if (path !== null) moveDirectory(onDisk(root, path), to);
    if (gitDir !== null) await embed(path === null ? null : to, gitDir, to);
    for (const each of inner) await embed(each.directory, each.gitDir, each.directory);
  }
}

/** Turns a submodule into a standalone repository. `to` is its work tree, or its own path if it has none. */
async function embed(workTree: string | null, gitDir: string, to: string): Promise<void> {
  const place = workTree === null ? to : join(workTree, ".git");
  if (lstatSync(gitDir, { throwIfNoEntry: false })) {
    if (lstatSync(place, { throwIfNoEntry: false })?.isFile()) unlinkSync(place);
    moveDirectory(gitDir, place);
  }
  const config = join(place, "config");
  if (!lstatSync(config, { throwIfNoEntry: false })) return;
  await tryGit(["config", "--file", config, "--unset-all", "core.worktree"], { cwd: "/" });
}

function movedWith(
  { path, gitDir, inner }: NestedRepository,
  directory: string,
  newGitDir: string,
  oldGitDir: string | null,
): KeptRepository["inner"] {
  if (path === null) return [];
  const place = join(directory, path);
  const below = gitDir !== null && oldGitDir !== null ? relative(oldGitDir, gitDir) : null;
  const own = below === null ? [] : [{ directory: place, gitDir: join(newGitDir, below) }];
  return [...own, ...inner.flatMap((each) => movedWith(each, place, join(place, ".git"), gitDir))];
}

async function inspect(directory: string, path: string, modulesDir: string | null): Promise<NestedRepository> {
  const gitDir = gitDirOf(directory);
  const unknown = (work: OwnWork) => ({ path, gitDir: null, work, inner: [] });
  if (gitDir === null) return unknown("unreadable");
  const isModule = modulesDir !== null && isInside(modulesDir, gitDir);
  if (!isModule && !isInside(directory, gitDir)) return unknown("other-worktree");
  const workspace = findWorkspace(directory);
  if (!workspace || workspace.gitDir !== gitDir) return unknown("unreadable");
  const { work, inner } = await workIn(workspace);
  return { path, gitDir: isModule ? gitDir : null, work, inner };
}

async function workIn(workspace: Workspace): Promise<Pick<NestedRepository, "work" | "inner">> {
  const { root, gitDir, hash } = workspace;
  // A submodule's settings name its work tree, which may have been renamed since.
  const args = ["--git-dir", gitDir, "--work-tree", root];
  const { files, repositories, blocked } = walk(root, new Set());
  const inner = await nestedRepositories(root, repositories, join(gitDir, "modules"));
  const committed = await committedFiles(args, root);
  const isCommitted = ({ path }: WalkedFile) =>
    committed.has(path) && contentId(onDisk(root, path), hash) === committed.get(path);
  const work =
    (await ownCommits(args, root)) ??
    (blocked.length > 0 ? "unreadable" : null) ??
    (!files.every(isCommitted) || (await hasStaged(args, root)) ? "uncommitted-files" : null) ??
    inner.find((each) => each.work !== null)?.work ??
    null;
  return { work, inner };
}

/** Content ids by path; empty if nothing is committed. */
async function committedFiles(args: readonly string[], cwd: string): Promise<Map<string, string>> {
  const { stdout } = await quietGit([...args, "ls-tree", "-r", "-z", "--full-tree", "HEAD"], cwd);
  const files = new Map<string, string>();
  for (let start = 0; start < stdout.length; ) {
    const [tab, end] = [stdout.indexOf(9, start), stdout.indexOf(0, start)];
    const [mode = "", type, id = ""] = stdout.toString("latin1", start, tab).split(" ");
    if (type === "blob") files.set(decodePath(stdout.subarray(tab + 1, end)), contentIdOf({ mode, id }));
    start = end + 1;
  }
  return files;
}

/** True if the index differs from the commit, or if that is unknown. */
async function hasStaged(args: readonly string[], cwd: string): Promise<boolean> {
  const head = await quietGit([...args, "rev-parse", "--verify", "--quiet", "HEAD"], cwd);
  if (head.code === 0) return (await quietGit([...args, "diff-index", "--cached", "--quiet", "HEAD"], cwd)).code !== 0;
  const listed = await quietGit([...args, "ls-files", "--stage"], cwd);
  return listed.code !== 0 || listed.stdout.length > 0;
}

/** Describes commits that no remote-tracking branch has: on branches, in the stash, or only in reflogs. */
async function ownCommits(args: readonly string[], cwd: string): Promise<OwnWork | null> {
  const head = await quietGit([...args, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"], cwd);
  const start = ["--all", "--reflog", ...(head.code === 0 ? ["HEAD"] : [])];
  const found = await quietGit([...args, "rev-list", "--max-count=1", ...start, "--not", "--remotes"], cwd);
  if (found.code !== 0) return "unreadable";
  return found.stdout.length > 0 ? "unpushed-commits" : null;
}

/** Runs git so that the repository's settings can't start programs or fetch anything. */
function quietGit(args: readonly string[], cwd: string): Promise<GitResult> {
  const settings = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
  return tryGit([...settings, ...args], { cwd, env: { GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" } });
}

/** The repository that a directory's `.git` points to; null if it is none. */
function gitDirOf(directory: string): string | null {
  try {
    const entry = join(directory, ".git");
    const target = lstatSync(entry).isDirectory() ? entry : gitFileTarget(directory);
    return target !== null && exists(join(target, "HEAD")) ? realpathSync(target) : null;
  } catch {
    return null;
  }
}

/** The outermost repositories; a submodule's name may contain slashes. */
function repositoriesBelow(directory: string): string[] {
  return namesIn(directory).flatMap((name) => {
    const path = join(directory, name);
    if (!lstatSync(path).isDirectory()) return [];
    return exists(join(path, "HEAD")) ? [path] : repositoriesBelow(path);
  });
}

function freeName(wanted: string): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if (!exists(name)) return name;
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
