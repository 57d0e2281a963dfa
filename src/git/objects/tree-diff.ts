/** Compares two trees in this process, reading only the directories that differ, or ahead of time in git. */
import { decodePath } from "../../base/fs/path-bytes.ts";
import { gitIn } from "../git.ts";
import { readingEnvironment } from "../private/store.ts";
import type { Workspace } from "../workspace.ts";
import { GITLINK_MODE, TREE_MODE, type TreeEntry, type TreeStore } from "./trees.ts";

export interface TreeDifference {
  path: string;
  status: "added" | "modified" | "deleted" | "mode";
  before: TreeEntry | null;
  after: TreeEntry | null;
}

/** Returns the differences sorted by path; null is the empty tree. */
export async function compareTrees(
  trees: TreeStore,
  before: string | null,
  after: string | null,
): Promise<TreeDifference[]> {
  const known = before !== null && after !== null ? await begun.get(trees)?.get(`${before} ${after}`) : undefined;
  if (known) return known;
  const found: TreeDifference[] = [];
  await compare(trees, before, after, "", found);
  return found.sort(byPath);
}

const begun = new WeakMap<TreeStore, Map<string, Promise<TreeDifference[] | undefined>>>();

/**
 * Starts comparing two trees in git, for a later `compareTrees`. git is faster if many directories differ, and this
 * process can do other work meanwhile. git must be able to read both trees.
 */
export function prefetchDiff(workspace: Workspace, trees: TreeStore, before: string, after: string): void {
  const pairs = begun.get(trees) ?? new Map();
  begun.set(trees, pairs.set(`${before} ${after}`, comparedByGit(workspace, before, after)));
}

/** Returns undefined if git fails. */
async function comparedByGit(
  workspace: Workspace,
  before: string,
  after: string,
): Promise<TreeDifference[] | undefined> {
  if (before === after) return [];
  const compare = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after];
  const { code, stdout } = await gitIn(workspace)
    .try(compare, { env: readingEnvironment(workspace) })
    .catch(() => ({ code: -1, stdout: null }));
  if (code !== 0 || stdout === null) return undefined;
  const found: TreeDifference[] = [];
  for (let at = 0; at < stdout.length; ) {
    const nul = stdout.indexOf(0, at);
    const end = stdout.indexOf(0, nul + 1);
    const [was = "", is = "", wasId = "", isId = ""] = stdout.toString("latin1", at + 1, nul).split(" ");
    const [from, to] = [entryOf(was, wasId), entryOf(is, isId)];
    found.push({
      path: decodePath(stdout.subarray(nul + 1, end)),
      before: from,
      after: to,
      status: statusOf(from, to),
    });
    at = end + 1;
  }
  return found.sort(byPath);
}

function entryOf(mode: string, id: string): TreeEntry | null {
  return mode === "000000" ? null : { mode, id };
}

function byPath(a: TreeDifference, b: TreeDifference): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

async function compare(
  trees: TreeStore,
  beforeId: string | null,
  afterId: string | null,
  prefix: string,
  found: TreeDifference[],
): Promise<void> {
  if (beforeId === afterId) return;
  const below: Promise<void>[] = [];
  for (const { name, before: a, after: b } of await trees.differences(beforeId, afterId)) {
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
