/**
 * Links that a commit's message lost when a rebase melted several commits into one, where others find them too: beside the checkpoint
 * that the message still names, in `backtrail-links.json`. What is read may be anybody's.
 */

import { FILE_MODE } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { moveBranch } from "./branch.ts";
import { committingIn, treeOf, writeCommit } from "./commit.ts";
import { checkpointPath, isCheckpointId, LINKS_FILE, layoutJson } from "./layout.ts";
import { blobOf, type ObjectStore, treeAt } from "./write.ts";

/** Commit → checkpoints. */
export type SharedLinks = Record<string, string[]>;

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const MOST_COMMITS = 1_000;
const MOST_CHECKPOINTS = 100;

/** Never throws: what is no link is passed over. */
export function parseLinks(data: Uint8Array): SharedLinks {
  const links: SharedLinks = {};
  try {
    const file = JSON.parse(Buffer.from(data).toString("utf8")) as { v?: unknown; links?: unknown };
    if (file.v !== 1 || typeof file.links !== "object" || file.links === null) return links;
    for (const [commit, ids] of Object.entries(file.links).slice(-MOST_COMMITS)) {
      if (!COMMIT.test(commit) || !Array.isArray(ids)) continue;
      links[commit] = [...new Set(ids.filter((id) => typeof id === "string" && isCheckpointId(id)))]
        .sort()
        .slice(0, MOST_CHECKPOINTS);
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

/** Beside the checkpoint `id`; nothing where there is no such checkpoint. */
export async function shareLinks(
  workspace: Workspace,
  objects: ObjectStore,
  id: string,
  links: SharedLinks,
): Promise<void> {
  const committing = await committingIn(workspace);
  const { reader, writer, trees } = objects;
  await moveBranch(workspace, async (tip) => {
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
