/** Copies commits and everything reachable from them to another object store, as one pack. */
import { join } from "node:path";
import { gitIn } from "../git.ts";
import { readingEnvironment } from "../private/store.ts";
import type { Workspace } from "../workspace.ts";

const TIMEOUT_MS = 600_000;

/**
 * After this, `to` holds the commits without borrowing objects, provided it holds all of `known`. The pack becomes
 * visible only when complete. `env` names further object stores for git to read.
 */
export async function copyHistory(
  to: Workspace,
  commits: readonly string[],
  known: readonly string[],
  env: Record<string, string> = readingEnvironment(to),
): Promise<void> {
  const pack = join(to.commonDir, "objects", "pack", "pack");
  const input = `${[...commits, ...known.map((commit) => `^${commit}`)].join("\n")}\n`;
  await gitIn(to).run(["pack-objects", "--quiet", "--revs", "--non-empty", "--delta-base-offset", pack], {
    env,
    input,
    timeoutMs: TIMEOUT_MS,
  });
}
