/** Waits for Cursor's transcript, which may lag by seconds. The wait is shorter, so as not to hold up the turn. */
import { statSync } from "node:fs";

const POLL_MS = 25;
const MAX_WAIT_MS = 1_000;

/** Waits until the transcript grew since the turn started and then stayed unchanged for one poll. */
export async function waitForGrowth(path: string, from: number): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  let last = -1;
  for (;;) {
    const size = sizeOf(path);
    if ((size > from && size === last) || performance.now() >= deadline) return;
    last = size;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}
