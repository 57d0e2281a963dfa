/** Names and locates worktrees beside the repository. git creates them without running hooks. */
import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { hasRef } from "../refs.ts";
import { findWorkspace, type Workspace } from "../workspace.ts";

export const WORKTREE_TIMEOUT_MS = 30 * 60 * 1000;
/** Creating a worktree must not run the user's checkout hooks. */
export const NO_HOOKS = ["-c", "core.hooksPath=/dev/null"];
const MAX_NAME = 32;
const WORDS = 4;

export interface WorktreePlace {
  name: string;
  branch: string;
  directory: string;
}

/** Returns an unused location: `<repository>.<kind>s/<name>` on the branch `<kind>/<name>`. */
export function freePlace(workspace: Workspace, kind: string, title: string): WorktreePlace {
  const home = worktreesHome(workspace, kind);
  const wanted = slug(title, kind);
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    const place = { name, branch: `${kind}/${name}`, directory: join(home, name) };
    // State that an earlier worktree of this name left in the store must not be mistaken for this one's.
    const isTaken =
      exists(place.directory) ||
      exists(join(workspace.storeDir, "worktrees", name)) ||
      exists(join(workspace.commonDir, "worktrees", name)) ||
      hasRef(workspace, `refs/heads/${place.branch}`);
    if (!isTaken) return place;
  }
}

/** The last line of git's error output, without "fatal: ". */
export function refusal(stderr: string): string {
  const said = stderr.trim().split("\n").at(-1) ?? "";
  return said.replace(/^fatal: /, "") || "git refused";
}

/** Reduces any text to lowercase letters, digits and hyphens. */
export function slug(text: string, otherwise: string): string {
  const words = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const name = words.slice(0, WORDS).join("-").slice(0, MAX_NAME).replace(/-$/, "");
  // The store uses "main" for the main work tree.
  return name === "" || name === "main" ? otherwise : name;
}

/** Located beside the outermost enclosing repository, so that no `git status` shows our worktrees. */
export function worktreesHome(workspace: Workspace, kind: string): string {
  const isOrdinary = workspace.kind === "repository" && basename(workspace.commonDir) === ".git";
  let root = isOrdinary ? dirname(workspace.commonDir) : workspace.root;
  for (;;) {
    const outer = findWorkspace(dirname(root));
    if (!outer || outer.root === root) return `${root}.${kind}s`;
    root = outer.root;
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
