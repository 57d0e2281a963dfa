/**
 * Files that a target's own rules ignore, and those of the present don't: somebody has changed a `.gitignore` since. No
 * step says whether they were there then, so a restore must not take them for new, and remove them.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryBeside } from "../base/files.ts";
import { directoriesAbove, onDisk } from "../base/path-bytes.ts";
import { nulSeparated, pathsAtNul } from "../git/conversion.ts";
import { ObjectReader } from "../git/reader.ts";
import { tryGit } from "../git/run.ts";
import type { TreeDifference } from "../git/tree-diff.ts";
import type { TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { entryAt } from "./state.ts";

const RULES = ".gitignore";

/** Of the files that would be removed: `differences` lead from the present to the tree `target`. */
export async function ignoredThen(
  workspace: Workspace,
  trees: TreeStore,
  target: string,
  differences: readonly TreeDifference[],
): Promise<ReadonlySet<string>> {
  const removed = differences.filter(({ after }) => after === null).map(({ path }) => path);
  if (removed.length === 0 || !differences.some(({ path }) => isRules(path))) return new Set();
  const place = temporaryBeside(join(workspace.stateDir, "ignored"));
  try {
    // Played by a directory that holds nothing but the target's rules; what else git goes by is as it is now.
    if (!(await layOutRules(workspace, trees, target, removed, place))) return new Set();
    const args = ["--git-dir", workspace.gitDir, "--work-tree", place, "check-ignore", "--no-index", "-z", "--stdin"];
    const asked = await tryGit(args, {
      cwd: place,
      env: { GIT_INDEX_FILE: join(place, "none") },
      input: nulSeparated(removed),
    });
    return new Set(asked.code === 0 ? pathsAtNul(asked.stdout) : []);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function isRules(path: string): boolean {
  return path === RULES || path.endsWith(`/${RULES}`);
}

/** The rules on the way to each path; false where there are none. */
async function layOutRules(
  workspace: Workspace,
  trees: TreeStore,
  target: string,
  paths: readonly string[],
  place: string,
): Promise<boolean> {
  const reader = new ObjectReader(workspace);
  let any = false;
  try {
    for (const directory of directoriesAbove(paths)) {
      const path = directory === "." ? RULES : `${directory}/${RULES}`;
      const entry = await entryAt(trees, target, path);
      if (!entry?.mode.startsWith("100")) continue;
      mkdirSync(onDisk(place, directory), { recursive: true, mode: 0o700 });
      writeFileSync(onDisk(place, path), await reader.require(entry.id, "blob"));
      any = true;
    }
  } finally {
    reader.close();
  }
  return any;
}
