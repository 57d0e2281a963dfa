/** Moves the checkpoint branch only from the tip that was read: concurrent writers never overwrite each other. */
import { compareAndSwapRef, readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { CHECKPOINT_BRANCH } from "../format/layout.ts";

const ATTEMPTS = 12;

/** `next` returns the new commit for a tip, or null to leave it; called again if another process moved the branch. */
export async function moveBranch(
  workspace: Workspace,
  next: (tip: string | null) => Promise<string | null>,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const tip = await readRef(workspace, CHECKPOINT_BRANCH);
    const commit = await next(tip);
    if (commit === null || commit === tip) return;
    if (await compareAndSwapRef(workspace, CHECKPOINT_BRANCH, tip, commit)) return;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * (attempt + 1)));
  }
  throw new Error(`The branch ${CHECKPOINT_BRANCH} kept changing.`);
}
