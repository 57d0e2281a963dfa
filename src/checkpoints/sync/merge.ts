/** Merges fetched checkpoints into the branch: fast-forwards if that loses nothing, else writes a merge commit. */

import { faultPoint } from "../../base/fault-point.ts";
import { gitIn } from "../../git/git.ts";
import type { ObjectStore } from "../../git/objects/object-store.ts";
import type { Workspace } from "../../git/workspace.ts";
import { moveBranch } from "../branch/branch.ts";
import { withoutForgotten } from "../forget/forget.ts";
import { type Committing, committingIn, treeOf, writeCommit } from "../write/commit.ts";
import { openObjects } from "../write/write.ts";
import { differing, mergeCheckpointTrees } from "./merge-trees.ts";

export interface Merged {
  tip: string;
  /** Checkpoints that are new here, or have gained content. */
  changed: string[];
  /** True if both sides had content that the other lacked. */
  joined: boolean;
}

/** Call this inside `whileObjectsStay` (branch/location.ts). */
export async function mergeInto(workspace: Workspace, theirs: string): Promise<Merged> {
  using objects = openObjects(workspace);
  const committing = await committingIn(workspace);
  let merged: Merged | undefined;
  await moveBranch(workspace, async (ours) => {
    merged = await merge(workspace, objects, committing, ours, theirs);
    faultPoint("sync:merged");
    return merged.tip;
  });
  if (!merged) throw new Error("Nothing was merged.");
  return merged;
}

async function merge(
  workspace: Workspace,
  objects: ObjectStore,
  committing: Committing,
  ours: string | null,
  theirs: string,
): Promise<Merged> {
  const { reader } = objects;
  const base = ours === null ? null : await mergeBase(workspace, ours, theirs);
  if (ours !== null && base === theirs) return { tip: ours, changed: [], joined: false };
  const [before, after] = [ours === null ? null : await treeOf(reader, ours), await treeOf(reader, theirs)];
  const common = base === null ? null : await treeOf(reader, base);
  const united = await mergeCheckpointTrees(objects, { ours: before, theirs: after, base: common });
  const tree = await withoutForgotten(workspace, objects, united, await differing(objects, before, united));
  const changed = await differing(objects, before, tree);
  // A commit that removes content is not a fast-forward, even if it descends from ours.
  if ((ours === null || base === ours) && tree === after) return { tip: theirs, changed, joined: false };
  objects.writer.flush();
  const parents = ours === null ? [theirs] : [ours, theirs];
  const tip = await writeCommit(objects, committing, { tree, parents, message: "Merge checkpoints\n" });
  return { tip, changed, joined: true };
}

async function mergeBase(workspace: Workspace, a: string, b: string): Promise<string | null> {
  const { code, stdout } = await gitIn(workspace).try(["merge-base", a, b]);
  return code === 0 ? stdout.toString("latin1").trim() : null;
}
