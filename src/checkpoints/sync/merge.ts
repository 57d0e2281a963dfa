/** Brings what was fetched into the branch: forward where that loses nothing, else by a commit that has both as parents. */
import { faultPoint } from "../../base/fault.ts";
import { compareAndSwapRef, readRef } from "../../git/refs.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type Committing, committingIn, treeOf, writeCommit } from "../commit.ts";
import { CHECKPOINT_BRANCH } from "../layout.ts";
import { type ObjectStore, openObjects } from "../write.ts";
import { differing, uniteTrees } from "./unite.ts";

export interface Merged {
  tip: string;
  /** Checkpoints that are new here, or hold more than before. */
  changed: string[];
  /** Both sides had something of their own. */
  joined: boolean;
}

const ATTEMPTS = 12;

export async function mergeInto(workspace: Workspace, theirs: string): Promise<Merged> {
  const objects = openObjects(workspace);
  try {
    const committing = await committingIn(workspace);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const ours = await readRef(workspace, CHECKPOINT_BRANCH);
      const merged = await merge(workspace, objects, committing, ours, theirs);
      faultPoint("sync:merged");
      if (merged.tip === ours || (await compareAndSwapRef(workspace, CHECKPOINT_BRANCH, ours, merged.tip)))
        return merged;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * (attempt + 1)));
    }
    throw new Error(`The branch ${CHECKPOINT_BRANCH} kept changing.`);
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
  const tree = await uniteTrees(objects, { ours: before, theirs: after, base: common });
  const changed = await differing(objects, before, tree);
  // A commit that takes something away is no step forward, even if it follows ours.
  if (ours === null || (base === ours && tree === after)) return { tip: theirs, changed, joined: false };
  objects.writer.flush();
  const tip = await writeCommit(objects, committing, { tree, parents: [ours, theirs], message: "Merge checkpoints\n" });
  return { tip, changed, joined: true };
}

async function mergeBase(workspace: Workspace, a: string, b: string): Promise<string | null> {
  const { code, stdout } = await tryGit(["merge-base", a, b], { cwd: workspace.root });
  return code === 0 ? stdout.toString("latin1").trim() : null;
}
