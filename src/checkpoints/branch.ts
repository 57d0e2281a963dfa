/** The checkpoints' branch, moved only from where it was read: two processes or machines never overwrite each other's. */
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import type { Workspace } from "../git/workspace.ts";
import { CHECKPOINT_BRANCH } from "./layout.ts";

const ATTEMPTS = 12;

/** `next` makes the commit to move to from the present tip, and is asked again where somebody was faster; null leaves it there. */
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
