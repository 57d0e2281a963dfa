/** Reads the contents of a commit in progress, to find the sessions that contributed to it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodePath, splitAtNul } from "../../base/fs/path-bytes.ts";
import { gitIn } from "../../git/git.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import { TREE_MODE, type TreeStore } from "../../git/objects/trees.ts";
import { hasRef, readRef } from "../../git/refs.ts";
import { git, gitText, tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { linkedIn } from "../links/trailers.ts";

/** A commit in progress: its paths with their new blobs (null: deleted), and paths with further changes on disk. */
export interface Staged {
  blobs: ReadonlyMap<string, string | null>;
  leftOver: ReadonlySet<string>;
}

/** With more paths than this, git is asked about the whole tree. */
const NAMED_PATHS = 200;

/**
 * Compares the index that git commits from with HEAD (`git commit <path>` uses its own index). Looks only at the paths
 * in `only`, if given.
 */
export async function stagedChanges(
  workspace: Workspace,
  indexFile: string | undefined,
  only: readonly string[] | null,
): Promise<Staged> {
  const named = only && nameable(only) ? only : [];
  const args = ["--literal-pathspecs", "status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames"];
  const env = indexFile ? { GIT_INDEX_FILE: indexFile } : undefined;
  const output = await git([...args, "--ignore-submodules=dirty", "--", ...named], {
    cwd: workspace.root,
    ...(env ? { env } : {}),
  });
  const blobs = new Map<string, string | null>();
  const leftOver = new Set<string>();
  for (const line of splitAtNul(output)) {
    // 1 XY sub mH mI mW hH hI path
    if (line[0] !== ORDINARY) continue;
    const [, xy = "", , , , , , id = ""] = line.toString("latin1", 0, 200).split(" ", 8);
    const path = decodePath(line.subarray(pathStart(line)));
    if (xy[0] !== ".") blobs.set(path, xy[0] === "D" ? null : id);
    if (xy[1] !== ".") leftOver.add(path);
  }
  return { blobs, leftOver };
}

const ORDINARY = "1".charCodeAt(0);

/** The path follows the eighth space. */
function pathStart(line: Buffer): number {
  let at = -1;
  for (let field = 0; field < 8; field++) at = line.indexOf(0x20, at + 1);
  return at + 1;
}

/** Returns the staged paths whose content differs from the tree `before`. */
export async function changedSince(trees: TreeStore, before: string, staged: Staged): Promise<string[]> {
  const changed: string[] = [];
  for (const [path, id] of staged.blobs) if ((await blobAt(trees, before, path)) !== id) changed.push(path);
  return changed;
}

/** Returns the `paths` whose content in HEAD differs from the tree `work`. */
export async function uncommitted(
  workspace: Workspace,
  trees: TreeStore,
  work: string | null,
  paths: readonly string[],
): Promise<string[]> {
  const tree = await gitIn(workspace).resolve("HEAD^{tree}");
  if (tree === null || work === null) return [...paths];
  const left: string[] = [];
  for (const path of paths)
    if ((await blobAt(trees, tree, path)) !== (await blobAt(trees, work, path))) left.push(path);
  return left;
}

/**
 * Returns the `paths` that still differ between the work tree and HEAD; null if that is unknown, because a stash or a
 * rebase may have put changes away temporarily.
 */
export async function stillOpen(workspace: Workspace, paths: readonly string[]): Promise<Set<string> | null> {
  if (isReplaying(workspace) || hasRef(workspace, "refs/stash")) return null;
  const named = nameable(paths) ? paths : [];
  const args = ["--literal-pathspecs", "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
  const { code, stdout } = await tryGit([...args, "--", ...named], { cwd: workspace.root });
  if (code !== 0) return null;
  return new Set(splitAtNul(stdout).map((line) => decodePath(line.subarray(3))));
}

/** True if the paths can be passed to git as arguments. */
function nameable(paths: readonly string[]): boolean {
  return paths.length <= NAMED_PATHS && paths.every((path) => !/[\udc80-\udcff]/.test(path));
}

async function blobAt(trees: TreeStore, root: string, path: string): Promise<string | null> {
  const parts = path.split("/");
  const name = parts.pop() ?? "";
  let tree = await trees.read(root);
  for (const part of parts) {
    const entry = tree.get(part);
    if (entry?.mode !== TREE_MODE) return null;
    tree = await trees.read(entry.id);
  }
  return tree.get(name)?.id ?? null;
}

/** True while git replays existing commits, which already have their links. */
export function isReplaying({ gitDir }: Workspace): boolean {
  const signs = ["rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer"];
  return signs.some((name) => existsSync(join(gitDir, name)));
}

export interface Head {
  commit: string;
  /** Null when HEAD is detached. */
  branch: string | null;
  message: string;
  linked: string[];
}

/** Returns undefined before the first commit. */
export async function readHead(workspace: Workspace): Promise<Head | undefined> {
  const symbolic = headRef(workspace);
  const commit = symbolic?.startsWith("refs/")
    ? await readRef(workspace, symbolic)
    : (symbolic ?? (await resolveHead(workspace)));
  if (!commit) return undefined;
  const reader = new ObjectReader(workspace);
  try {
    const text = (await reader.require(commit, "commit")).toString("utf8");
    const blank = text.indexOf("\n\n");
    const message = blank === -1 ? "" : text.slice(blank + 2);
    const branch = symbolic?.startsWith("refs/heads/") ? symbolic.slice("refs/heads/".length) : null;
    return { commit, branch, message, linked: linkedIn(message) };
  } finally {
    reader.close();
  }
}

/** Returns the ref that HEAD names, or its detached commit; undefined if only git can resolve it. */
function headRef({ gitDir, refStorage }: Workspace): string | undefined {
  if (refStorage !== "files") return undefined;
  const text = readFileSync(join(gitDir, "HEAD"), "utf8").trim();
  return text.startsWith("ref: ") ? text.slice(5).trim() : text;
}

async function resolveHead(workspace: Workspace): Promise<string> {
  return gitText(["rev-parse", "--verify", "--quiet", "HEAD"], { cwd: workspace.root });
}
