/** Worktrees beside the repository: what they are called, where they lie, and made without running anybody's hooks. */
import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gitLocation } from "./location.ts";
import { hasRef } from "./refs.ts";
import { tryGit } from "./run.ts";
import { findWorkspace, type Workspace } from "./workspace.ts";

export const WORKTREE_TIMEOUT_MS = 30 * 60 * 1000;
/** A worktree is made by git alone: what others want to happen after a checkout is theirs to start. */
export const NO_HOOKS = ["-c", "core.hooksPath=/dev/null"];
const LONGEST_NAME = 32;
const WORDS = 4;

export interface WorktreePlace {
  name: string;
  branch: string;
  directory: string;
}

/** A name that nothing has: `<repository>.<kind>s/<name>` on the branch `<kind>/<name>`. */
export function freePlace(workspace: Workspace, kind: string, title: string): WorktreePlace {
  const home = worktreesHome(workspace, kind);
  const wanted = slug(title, kind);
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    const place = { name, branch: `${kind}/${name}`, directory: join(home, name) };
    // What a worktree of that name left in the store must not be taken for this one's.
    const isTaken =
      exists(place.directory) ||
      exists(join(workspace.storeDir, "worktrees", name)) ||
      exists(join(workspace.commonDir, "worktrees", name)) ||
      hasRef(workspace, `refs/heads/${place.branch}`);
    if (!isTaken) return place;
  }
}

/** Null where it was made; otherwise what git said. */
export async function addWorktree(workspace: Workspace, place: WorktreePlace, commit: string): Promise<string | null> {
  const { args, cwd } = gitLocation(workspace);
  const add = [...args, ...NO_HOOKS, "worktree", "add", "-b", place.branch, place.directory, commit];
  const made = await tryGit(add, { cwd, timeoutMs: WORKTREE_TIMEOUT_MS });
  if (made.code === 0) return null;
  return refusal(made.stderr);
}

/** git's last words, without their beginning. */
export function refusal(stderr: string): string {
  const said = stderr.trim().split("\n").at(-1) ?? "";
  return said.replace(/^fatal: /, "") || "git refused";
}

/** Small letters, digits and hyphens, whatever the text holds. */
export function slug(text: string, otherwise: string): string {
  const words = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const name = words.slice(0, WORDS).join("-").slice(0, LONGEST_NAME).replace(/-$/, "");
  // "main" is how the first work tree is called in the store.
  return name === "" || name === "main" ? otherwise : name;
}

/** Beside the outermost repository that this one lies in: nobody's `git status` shows what we make. */
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
