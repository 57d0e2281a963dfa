/** What differs between two trees, read along the differing directories only, without starting a process. */
import { GITLINK_MODE, TREE_MODE, type TreeEntry, type TreeStore } from "./trees.ts";

export interface TreeDifference {
  path: string;
  status: "added" | "modified" | "deleted" | "mode";
  before: TreeEntry | null;
  after: TreeEntry | null;
}

/** By path, in git's order within each directory; null is the empty tree. */
export async function compareTrees(
  trees: TreeStore,
  before: string | null,
  after: string | null,
): Promise<TreeDifference[]> {
  const found: TreeDifference[] = [];
  await compare(trees, before, after, "", found);
  return found.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

async function compare(
  trees: TreeStore,
  beforeId: string | null,
  afterId: string | null,
  prefix: string,
  found: TreeDifference[],
): Promise<void> {
  if (beforeId === afterId) return;
  const [before, after] = await Promise.all([trees.read(beforeId), trees.read(afterId)]);
  const below: Promise<void>[] = [];
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const a = before.get(name) ?? null;
    const b = after.get(name) ?? null;
    if (a?.id === b?.id && a?.mode === b?.mode) continue;
    const aTree = a?.mode === TREE_MODE ? a.id : null;
    const bTree = b?.mode === TREE_MODE ? b.id : null;
    if (aTree !== null || bTree !== null) below.push(compare(trees, aTree, bTree, `${prefix}${name}/`, found));
    const aFile = aTree === null ? a : null;
    const bFile = bTree === null ? b : null;
    if (aFile || bFile)
      found.push({ path: prefix + name, before: aFile, after: bFile, status: statusOf(aFile, bFile) });
  }
  await Promise.all(below);
}

function statusOf(before: TreeEntry | null, after: TreeEntry | null): TreeDifference["status"] {
  if (!before) return "added";
  if (!after) return "deleted";
  return before.id === after.id && before.mode !== GITLINK_MODE ? "mode" : "modified";
}
