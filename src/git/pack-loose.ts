/**
 * Loose objects into a pack, as git's own maintenance task of that name does it, but without its lock: a killed one would leave that in the
 * user's repository, and git would pass its own maintenance by for ever after, without a word.
 */
import { join } from "node:path";
import { namesIn } from "../base/files.ts";
import { gitLocation } from "./location.ts";
import { tryGit } from "./run.ts";
import type { Workspace } from "./workspace.ts";

/** Loose objects in one of 256 directories, as git itself estimates: 27 here are about 6,700 in all. */
const LOOSE_SAMPLE = 27;
const MOST_AT_ONCE = 50_000;
const TIMEOUT_MS = 600_000;

/** Only what is in the pack loses its file: nothing of the user's is pruned. */
export async function packLooseObjects(workspace: Workspace): Promise<void> {
  const objects = join(workspace.commonDir, "objects");
  if (namesIn(join(objects, "17")).length < LOOSE_SAMPLE) return;
  const loose = looseIn(objects);
  if (loose.length === 0) return;
  const { args, cwd } = gitLocation(workspace);
  const input = `${loose.join("\n")}\n`;
  const pack = ["pack-objects", "--quiet", join(objects, "pack", "pack")];
  const { code } = await tryGit([...args, ...pack], { cwd, input, timeoutMs: TIMEOUT_MS });
  if (code === 0) await tryGit([...args, "prune-packed", "--quiet"], { cwd, timeoutMs: TIMEOUT_MS });
}

function looseIn(objects: string): string[] {
  const found: string[] = [];
  for (let shard = 0; shard < 256 && found.length < MOST_AT_ONCE; shard++) {
    const name = shard.toString(16).padStart(2, "0");
    for (const rest of namesIn(join(objects, name))) if (/^[0-9a-f]{38,62}$/.test(rest)) found.push(name + rest);
  }
  return found;
}
