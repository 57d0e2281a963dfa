/**
 * Shares links that a commit message lost when a rebase squashed several commits: stores them in `backtrail-links.json`
 * next to the checkpoint that the message still names. The file is untrusted input.
 */

import type { ObjectStore } from "../../git/objects/object-store.ts";
import { FILE_MODE } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import { moveBranch } from "../branch/branch.ts";
import { checkpointPlaces, whileObjectsStay } from "../branch/location.ts";
import { checkpointPath, isCheckpointId, LINKS_FILE, layoutJson } from "../format/layout.ts";
import { committingIn, treeOf, writeCommit } from "../write/commit.ts";
import { blobOf, openObjects, treeAt } from "../write/write.ts";

/** Commit → checkpoints. */
export type SharedLinks = Record<string, string[]>;

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const MAX_COMMITS = 1_000;
const MAX_CHECKPOINTS = 100;

/** Never throws: skips anything that is not a link. */
export function parseLinks(data: Uint8Array): SharedLinks {
  const links: SharedLinks = {};
  try {
    const file = JSON.parse(Buffer.from(data).toString("utf8")) as { v?: unknown; links?: unknown };
    if (file.v !== 1 || typeof file.links !== "object" || file.links === null) return links;
    for (const [commit, ids] of Object.entries(file.links).slice(-MAX_COMMITS)) {
      if (!COMMIT.test(commit) || !Array.isArray(ids)) continue;
      links[commit] = [...new Set(ids.filter((id) => typeof id === "string" && isCheckpointId(id)))]
        .sort()
        .slice(0, MAX_CHECKPOINTS);
    }
  } catch {
    // Not JSON: no links.
  }
  return links;
}

export function linksJson(links: SharedLinks): string {
  const sorted = Object.fromEntries(Object.entries(links).sort(([a], [b]) => (a < b ? -1 : 1)));
  return layoutJson({ v: 1, links: sorted });
}

export function joinLinks(a: SharedLinks, b: SharedLinks): SharedLinks {
  const joined: SharedLinks = { ...a };
  for (const [commit, ids] of Object.entries(b))
    joined[commit] = [...new Set([...(joined[commit] ?? []), ...ids])].sort();
  return joined;
}

/** Writes the links next to the checkpoint `id`; no-op if there is no such checkpoint. */
export async function shareLinks(workspace: Workspace, id: string, links: SharedLinks): Promise<void> {
  for (const place of checkpointPlaces(workspace)) await whileObjectsStay(place, () => writeInto(place, id, links));
}

async function writeInto(place: Workspace, id: string, links: SharedLinks): Promise<void> {
  using objects = openObjects(place);
  await addLinks(place, objects, id, links);
}

async function addLinks(place: Workspace, objects: ObjectStore, id: string, links: SharedLinks): Promise<void> {
  const committing = await committingIn(place);
  const { reader, writer, trees } = objects;
  await moveBranch(place, async (tip) => {
    if (tip === null) return null;
    const root = await treeOf(reader, tip);
    const directory = await treeAt(trees, root, checkpointPath(id));
    if (directory.size === 0) return null;
    const before = await blobOf(reader, directory.get(LINKS_FILE));
    const text = linksJson(joinLinks(before ? parseLinks(before) : {}, links));
    const file = { mode: FILE_MODE, id: writer.add("blob", Buffer.from(text)) };
    const tree = await trees.apply(root, new Map([[`${checkpointPath(id)}/${LINKS_FILE}`, file]]));
    if (tree === root) return null;
    writer.flush();
    return writeCommit(objects, committing, { tree, parents: [tip], message: `Checkpoint: ${id}\n` });
  });
}
