/** Agents write their transcripts a moment behind their hooks, and go on writing while a hook runs. */
import { withFile } from "./file-bytes.ts";

export interface Patience {
  pollMs: number;
  longestMs: number;
}

/** Until the file has grown beyond `from` and `isWritten` says so; one that hasn't grown isn't read again. */
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
