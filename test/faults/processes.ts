/** What a killed process left running, told by the home that everything of a test's world shares. Linux alone can say. */
import { readdirSync, readFileSync } from "node:fs";

const PATIENCE_MS = 15_000;

/** Waits until nothing runs any more; gives what still does after a long while. */
export async function stillRunning(home: string): Promise<string[]> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = runningIn(home);
    if (found.length === 0 || performance.now() > end) return found;
    await Bun.sleep(10);
  }
}

function runningIn(home: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        // A process that has ended and waits for its parent has no environment.
        const isOurs = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(`HOME=${home}`);
        return isOurs ? [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()] : [];
      } catch {
        return [];
      }
    });
}
