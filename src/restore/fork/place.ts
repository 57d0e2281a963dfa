/** Chooses a fork's name and location unless the user specified them. */

import { lstatSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { isInside } from "../../base/paths.ts";
import { gitIn } from "../../git/git.ts";
import { hasRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { slug, worktreesHome } from "../../git/worktrees/create.ts";
import { listForks } from "../../steps/forks.ts";
import { ForkError } from "./problems.ts";

export interface ForkPlace {
  name: string;
  /** Null in a folder without git. */
  branch: string | null;
  /** Null for a branch without a directory. */
  directory: string | null;
}

export interface PlaceOptions {
  /** The name of the branch. */
  branch?: string;
  /** Absolute. */
  directory?: string;
  branchOnly?: boolean;
}

/** `title` is the source of the name: the prompt that led to the state. */
export async function choosePlace(workspace: Workspace, title: string, options: PlaceOptions): Promise<ForkPlace> {
  const isFolder = workspace.kind === "private";
  if (isFolder && (options.branchOnly || options.branch !== undefined)) {
    throw new ForkError("usage", { kind: "folder-has-no-branches" });
  }
  const home = worktreesHome(workspace, "fork");
  const given = options.directory === undefined ? options.branch : basename(options.directory);
  const isTaken = (name: string) =>
    listForks(workspace).some((fork) => fork.name === name) ||
    (options.directory === undefined && !options.branchOnly && exists(join(home, name))) ||
    // Data in the store from an earlier worktree of that name must not be mistaken for this fork's.
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
  const form = await gitIn(workspace).try(["check-ref-format", `refs/heads/${branch}`]);
  if (form.code !== 0 || branch.startsWith("-") || branch === "HEAD") {
    throw new ForkError("usage", { kind: "branch-name-invalid", branch });
  }
  if (!hasRef(workspace, `refs/heads/${branch}`)) return;
  throw new ForkError("refused", { kind: "branch-exists", branch });
}

async function demandDirectory(workspace: Workspace, directory: string): Promise<void> {
  if (exists(directory) && !isEmptyDirectory(directory)) {
    throw new ForkError("refused", { kind: "directory-exists", directory });
  }
  if (isInside(workspace.commonDir, directory)) {
    throw new ForkError("refused", { kind: "directory-in-git", directory });
  }
  if (!isInside(workspace.root, directory)) return;
  const ignored =
    workspace.kind === "repository" ? await gitIn(workspace).try(["check-ignore", "--quiet", "--", directory]) : null;
  if (ignored?.code === 0) return;
  throw new ForkError("refused", { kind: "directory-in-work-tree", directory });
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isEmptyDirectory(path: string): boolean {
  return lstatSync(path).isDirectory() && readdirSync(path).length === 0;
}
