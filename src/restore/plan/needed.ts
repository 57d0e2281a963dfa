/**
 * Finds files that a restore touches but that a normal snapshot skips: files written by the restore being reverted,
 * and large untracked files that were tracked at the target. The safety step must hold them.
 */

import { entryAt, type TreeStore } from "../../git/objects/trees.ts";
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { RestoreRequest } from "./plan.ts";
import { stateOf } from "./state.ts";
import { pathTypeAt } from "./work-tree.ts";

/** `ownWrites`: files written by the restore being reverted. */
export async function neededAndMissed(
  workspace: Workspace,
  trees: TreeStore,
  present: Snapshot,
  { target, merge, options }: RestoreRequest,
  ownWrites: ReadonlySet<string>,
): Promise<string[]> {
  if (options.chatOnly) return [];
  const needed: string[] = [];
  for (const path of ownWrites) {
    const standing = pathTypeAt(workspace.root, path);
    if (standing !== "file" && standing !== "symlink") continue;
    if (!(await entryAt(trees, present.work, path))) needed.push(path);
  }
  if (merge || target.kind === "turns") return needed;
  // A file tracked then had no size limit. An untracked file that has merely grown is left alone.
  const { index } = stateOf(target);
  for (const { path, why } of present.notCaptured) {
    if (why === "too-large" && !ownWrites.has(path) && (await entryAt(trees, index, path))) needed.push(path);
  }
  return needed;
}
