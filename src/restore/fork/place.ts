/** What a fork is called and where it lies, unless the user says so. */
import { lstatSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { isInside } from "../../base/paths.ts";
import { oneLine, shorten, shownPath } from "../../base/text.ts";
import { gitLocation } from "../../git/location.ts";
import { hasRef } from "../../git/refs.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { slug, worktreesHome } from "../../git/worktrees.ts";
import { listForks } from "../../steps/forks.ts";

export interface ForkPlace {
  name: string;
  /** Null in a folder without git. */
  branch: string | null;
  /** Null for a branch alone. */
  directory: string | null;
}

export interface PlaceOptions {
  /** Of the branch. */
  branch?: string;
  /** Absolute. */
  directory?: string;
  branchOnly?: boolean;
}

/** `title` is what the name is made from: the prompt that led there. */
export async function choosePlace(workspace: Workspace, title: string, options: PlaceOptions): Promise<ForkPlace> {
  const isFolder = workspace.kind === "private";
  if (isFolder && (options.branchOnly || options.branch !== undefined)) {
    throw new UserError("usage", "This folder has no git, so a fork of it has no branch.", "Leave the option out.");
  }
  const home = worktreesHome(workspace, "fork");
  const given = options.directory === undefined ? options.branch : basename(options.directory);
  const isTaken = (name: string) =>
    listForks(workspace).some((fork) => fork.name === name) ||
    (options.directory === undefined && !options.branchOnly && exists(join(home, name))) ||
    // What a worktree of that name left in the store must not be taken for this one's.
    exists(join(workspace.storeDir, "worktrees", name)) ||
    (!isFolder && options.branch === undefined && hasRef(workspace, `refs/heads/${branchFor(name)}`));
  const name = freeName(slug(given ?? title, "fork"), isTaken);
  const branch = isFolder ? null : (options.branch ?? branchFor(name));
  if (branch !== null) await demandBranch(workspace, branch);
  if (options.branchOnly) return { name, branch, directory: null };
  const directory = options.directory ?? join(home, name);
  await demandDirectory(workspace, directory);
  return { name, branch, directory };
}

function branchFor(name: string): string {
  return `fork/${name}`;
}

function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if (!isTaken(name)) return name;
  }
}

async function demandBranch(workspace: Workspace, branch: string): Promise<void> {
  const shown = shorten(oneLine(branch), 80);
  const { args, cwd } = gitLocation(workspace);
  const form = await tryGit([...args, "check-ref-format", `refs/heads/${branch}`], { cwd });
  if (form.code !== 0 || branch.startsWith("-") || branch === "HEAD") {
    throw new UserError("usage", `"${shown}" can't be the name of a branch.`, "Give another one with --branch.");
  }
  if (!hasRef(workspace, `refs/heads/${branch}`)) return;
  throw new UserError("refused", `There is a branch ${shown} already.`, "Give another name with --branch.");
}

async function demandDirectory(workspace: Workspace, directory: string): Promise<void> {
  const shown = shownPath(directory);
  const hint = "Give another place with --directory.";
  if (exists(directory) && !isEmptyDirectory(directory)) {
    throw new UserError("refused", `${shown} is there already.`, hint);
  }
  if (isInside(workspace.commonDir, directory)) {
    throw new UserError("refused", `${shown} lies in git's own directory.`, hint);
  }
  if (!isInside(workspace.root, directory)) return;
  const { args, cwd } = gitLocation(workspace);
  const ignored =
    workspace.kind === "repository"
      ? await tryGit([...args, "check-ignore", "--quiet", "--", directory], { cwd })
      : null;
  if (ignored?.code === 0) return;
  throw new UserError("refused", `${shown} lies in the work tree itself, and git does not ignore it.`, hint);
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isEmptyDirectory(path: string): boolean {
  return lstatSync(path).isDirectory() && readdirSync(path).length === 0;
}
