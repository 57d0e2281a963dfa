/**
 * Which checkpoints hold which turns, so that a colleague who looks at a commit finds its turns on the hub. Only
 * checkpoints that changed since the last look are read.
 */
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { readJson, writeJson } from "../base/fs/files.ts";
import { isRecord } from "../base/json.ts";
import { log } from "../base/log.ts";
import { checkpointHome } from "../checkpoints/branch/location.ts";
import { tombstoneKey } from "../checkpoints/forget/tombstones.ts";
import { CHECKPOINT_BRANCH } from "../checkpoints/format/layout.ts";
import { CheckpointReader, type StoredCheckpoint } from "../checkpoints/read/read.ts";
import { differing } from "../checkpoints/sync/merge-trees.ts";
import { treeOf } from "../checkpoints/write/commit.ts";
import { openObjects } from "../checkpoints/write/write.ts";
import { readRef } from "../git/refs.ts";
import type { Workspace } from "../git/workspace.ts";
import { teamDirectory } from "./sharing.ts";

/** `<session key> <turn>` → ids of checkpoints, sorted. */
export type CheckpointLinks = ReadonlyMap<string, readonly string[]>;

interface Cache {
  v: 1;
  tree: string;
  links: Record<string, string[]>;
}

export async function checkpointLinks(workspace: Workspace): Promise<CheckpointLinks> {
  if (workspace.kind === "private") return new Map();
  const home = checkpointHome(workspace);
  const commit = await readRef(home, CHECKPOINT_BRANCH);
  if (commit === null) return new Map();
  const objects = openObjects(home);
  try {
    const cache = readCache(workspace);
    const tree = await treeOf(objects.reader, commit);
    if (cache.tree === tree) return new Map(Object.entries(cache.links));
    const changed = await differing(objects, tree, cache.tree || null).catch(() => differing(objects, tree, null));
    const links = await withLinksOf(workspace, changed, cache.links);
    writeJson(cacheFile(workspace), { v: 1, tree, links: Object.fromEntries(links) } satisfies Cache);
    return links;
  } finally {
    objects.reader.close();
  }
}

async function withLinksOf(
  workspace: Workspace,
  checkpoints: readonly string[],
  known: Record<string, string[]>,
): Promise<Map<string, string[]>> {
  const links = new Map(Object.entries(known));
  const reader = new CheckpointReader(workspace);
  try {
    for (const id of checkpoints) {
      try {
        const checkpoint = await reader.find(id);
        for (const key of checkpoint ? turnsIn(checkpoint) : [])
          links.set(key, [...new Set([...(links.get(key) ?? []), id])].sort());
      } catch (error) {
        log("warn", "team", messageOf(error));
      }
    }
  } finally {
    reader.close();
  }
  return links;
}

/** The turns that a checkpoint holds, by their keys. */
function turnsIn({ sessions }: StoredCheckpoint): string[] {
  return sessions.flatMap(({ record }) =>
    [...new Set((record?.steps ?? []).map(({ turn }) => turn))]
      .filter((turn) => turn > 0)
      .map((turn) => linkKey(tombstoneKey(record?.session ?? ""), turn)),
  );
}

export function linkKey(session: string, turn: number): string {
  return `${session} ${turn}`;
}

function readCache(workspace: Workspace): Cache {
  try {
    const value = readJson(cacheFile(workspace));
    if (isRecord(value) && value["v"] === 1 && typeof value["tree"] === "string" && isRecord(value["links"]))
      return value as unknown as Cache;
  } catch {
    // A damaged cache is rebuilt.
  }
  return { v: 1, tree: "", links: {} };
}

function cacheFile(workspace: Workspace): string {
  return join(teamDirectory(workspace), "links.json");
}
