/**
 * Packs loose objects like git's `loose-objects` maintenance task, but without its lock. A killed process would leave
 * that lock in the user's repository, and git would silently skip its own maintenance from then on.
 */
import { join } from "node:path";
import { namesIn } from "../../base/fs/files.ts";
import { gitIn } from "../git.ts";
import { hasManyWideTrees } from "../wide/count.ts";
import type { Workspace } from "../workspace.ts";

/** Sample of one of 256 directories, as git estimates it: 27 objects here mean about 6,700 in all. */
const LOOSE_SAMPLE = 27;
const MAX_AT_ONCE = 50_000;
const TIMEOUT_MS = 600_000;

/** Removes only loose objects that are in the pack; prunes none of the user's objects. */
export async function packLooseObjects(workspace: Workspace): Promise<void> {
  const objects = join(workspace.commonDir, "objects");
  if (!isLooseMany(objects) && !hasManyWideTrees(workspace)) return;
  const loose = looseIn(objects, MAX_AT_ONCE);
  if (loose.length === 0) return;
  const git = gitIn(workspace);
  const input = `${loose.join("\n")}\n`;
  const pack = ["pack-objects", "--quiet", join(objects, "pack", "pack")];
  const { code } = await git.try(pack, { input, timeoutMs: TIMEOUT_MS });
  if (code === 0) await git.try(["prune-packed", "--quiet"], { timeoutMs: TIMEOUT_MS });
}

/** Whether there are enough loose objects for packing to pay off. */
export function isLooseMany(objects: string): boolean {
  return namesIn(join(objects, "17")).length >= LOOSE_SAMPLE;
}

/** Ids of loose objects; may exceed `limit` by the rest of one directory. */
export function looseIn(objects: string, limit: number = Number.POSITIVE_INFINITY): string[] {
  const found: string[] = [];
  for (let shard = 0; shard < 256 && found.length < limit; shard++) {
    const name = shard.toString(16).padStart(2, "0");
    for (const rest of namesIn(join(objects, name))) if (/^[0-9a-f]{38,62}$/.test(rest)) found.push(name + rest);
  }
  return found;
}
