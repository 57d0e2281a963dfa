/**
 * Removes ref locks left by a git process of ours that was killed. A lock does not name its owner: the caller must
 * know.
 */
import { removeFile } from "../../base/fs/files.ts";
import { markAt } from "./move.ts";

/** git holds a ref's lock for milliseconds while packing refs. */
const HELD_BY_GIT_MS = 1_000;
const POLL_MS = 20;

/** Removes a lock that stays unchanged for longer than git would hold it. */
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
