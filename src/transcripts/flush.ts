/** Waits for a transcript, because agents write it shortly after calling a hook, and while the hook runs. */
import { withFile } from "./file-bytes.ts";

export interface Patience {
  pollMs: number;
  longestMs: number;
}

/** Waits until the file grew beyond `from` and `isWritten` returns true. Rereads the file only after it grew. */
export async function waitUntilWritten(
  path: string,
  from: number,
  { pollMs, longestMs }: Patience,
  isWritten: (fd: number, size: number) => boolean,
): Promise<void> {
  const deadline = performance.now() + longestMs;
  let seen = -1;
  for (;;) {
    const size = withFile(path, (fd, size) => {
      if (size <= from || size === seen) return size;
      return isWritten(fd, size) ? "written" : size;
    });
    if (size === "written" || performance.now() >= deadline) return;
    seen = size ?? -1;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
