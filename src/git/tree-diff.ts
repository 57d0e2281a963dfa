/** What differs between two trees, read along the differing directories only, without starting a process. */
import { decodePath } from "../base/path-bytes.ts";
import { gitLocation } from "./location.ts";
import { tryGit } from "./run.ts";
import { GITLINK_MODE, TREE_MODE, type TreeEntry, type TreeStore } from "./trees.ts";
import type { Workspace } from "./workspace.ts";

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
  const known = before !== null && after !== null ? await begun.get(trees)?.get(`${before} ${after}`) : undefined;
  if (known) return known;
  const found: TreeDifference[] = [];
  await compare(trees, before, after, "", found);
  return found.sort(byPath);
}

const begun = new WeakMap<TreeStore, Map<string, Promise<TreeDifference[] | undefined>>>();

/**
 * Has git compare two trees, for whoever asks these trees for it later: where many directories differ it is done sooner,
 * and meanwhile this process can do something else. git must know both.
 */
export function compareAhead(workspace: Workspace, trees: TreeStore, before: string, after: string): void {
  const pairs = begun.get(trees) ?? new Map();
  begun.set(trees, pairs.set(`${before} ${after}`, comparedByGit(workspace, before, after)));
}

/** undefined where git can't. */
async function comparedByGit(
  workspace: Workspace,
  before: string,
  after: string,
): Promise<TreeDifference[] | undefined> {
  if (before === after) return [];
  const { args, cwd } = gitLocation(workspace);
  const compare = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after];
  const { code, stdout } = await tryGit([...args, ...compare], { cwd }).catch(() => ({ code: -1, stdout: null }));
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
