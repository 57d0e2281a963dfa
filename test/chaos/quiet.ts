/** Waits until everything that was started in a world has ended; told by the home that all of it shares. */
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "./work-files.ts";
import type { World } from "./world.ts";

/** A worker may get hardly any time on a busy machine. */
const MAX_WAIT_MS = 120_000;

export async function quiet(world: World): Promise<void> {
  const end = performance.now() + MAX_WAIT_MS;
  while (running(world.home).length > 0) {
    if (performance.now() > end) throw new Error(`Still running: ${running(world.home).join("; ")}`);
    await Bun.sleep(5);
  }
}

function running(home: string): string[] {
  if (process.platform !== "linux") return [];
  const mark = `HOME=${home}\0`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark)) return [];
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()];
      } catch {
        return [];
      }
    });
}

/** A git that was killed leaves locks, which its user removes, as git says. */
export function removeLocks(world: World): void {
  const remove = (directory: string): void => {
    for (const name of namesIn(directory)) {
      const path = join(directory, name);
      if (name === "backtrail" || name === "objects") continue;
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) remove(path);
      else if (name.endsWith(".lock")) rmSync(path, { force: true });
    }
  };
  for (const place of [...world.places().map((path) => join(path, ".git")), ...world.stores]) {
    if (statSync(place, { throwIfNoEntry: false })?.isDirectory()) remove(place);
  }
}
