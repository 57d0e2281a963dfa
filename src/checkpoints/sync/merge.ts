/** Brings what was fetched into the branch: forward where that loses nothing, else by a commit that has both as parents. */
import { faultPoint } from "../../base/fault.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { moveBranch } from "../branch.ts";
import { type Committing, committingIn, treeOf, writeCommit } from "../commit.ts";
import { withoutForgotten } from "../forget.ts";
import { type ObjectStore, openObjects } from "../write.ts";
import { differing, uniteTrees } from "./unite.ts";

export interface Merged {
  tip: string;
  /** Checkpoints that are new here, or hold more than before. */
  changed: string[];
  /** Both sides had something of their own. */
  joined: boolean;
}

export async function mergeInto(workspace: Workspace, theirs: string): Promise<Merged> {
  const objects = openObjects(workspace);
  try {
    const committing = await committingIn(workspace);
    let merged: Merged | undefined;
    await moveBranch(workspace, async (ours) => {
      merged = await merge(workspace, objects, committing, ours, theirs);
      faultPoint("sync:merged");
      return merged.tip;
    });
    if (!merged) throw new Error("Nothing was merged.");
    return merged;
  } finally {
    objects.reader.close();
  }
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
  const united = await uniteTrees(objects, { ours: before, theirs: after, base: common });
  const tree = await withoutForgotten(workspace, objects, united, await differing(objects, before, united));
  const changed = await differing(objects, before, tree);
  // A commit that takes something away is no step forward, even if it follows ours.
  if ((ours === null || base === ours) && tree === after) return { tip: theirs, changed, joined: false };
  objects.writer.flush();
  const parents = ours === null ? [theirs] : [ours, theirs];
  const tip = await writeCommit(objects, committing, { tree, parents, message: "Merge checkpoints\n" });
  return { tip, changed, joined: true };
}

async function mergeBase(workspace: Workspace, a: string, b: string): Promise<string | null> {
  const { code, stdout } = await tryGit(["merge-base", a, b], { cwd: workspace.root });
  return code === 0 ? stdout.toString("latin1").trim() : null;
}
