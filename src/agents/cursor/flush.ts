/** Cursor writes its transcript late, sometimes by seconds; a turn is not held up that long for it. */
import { statSync } from "node:fs";

const POLL_MS = 25;
const LONGEST_MS = 1_000;

/** Until the transcript has grown since the turn began and then stayed as it is for one look. */
export async function waitForGrowth(path: string, from: number): Promise<void> {
  const deadline = performance.now() + LONGEST_MS;
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
