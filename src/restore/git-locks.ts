/** Locks that a git of ours left beside refs when it was killed with us. They don't say whose they are: the caller knows. */
import { removeFile } from "../base/files.ts";
import { markAt } from "./move.ts";

/** git, packing refs, holds a ref's lock for milliseconds. */
const HELD_BY_GIT_MS = 1_000;
const POLL_MS = 20;

/** Removes one that stays as it is for longer than any git holds it. */
export async function releaseLock(lock: string): Promise<void> {
  const mark = markAt(lock);
  if (mark === undefined) return;
  const deadline = performance.now() + HELD_BY_GIT_MS;
  while (performance.now() < deadline) {
    if (markAt(lock) !== mark) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  removeFile(lock);
}
