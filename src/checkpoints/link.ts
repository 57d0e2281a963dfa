/** What a commit in the making holds, and which sessions had a hand in it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodePath } from "../base/path-bytes.ts";
import { ObjectReader } from "../git/reader.ts";
import { hasRef, readRef } from "../git/refs.ts";
import { git, gitText, tryGit } from "../git/run.ts";
import { TREE_MODE, type TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { linkedIn } from "./trailers.ts";

/** A commit in the making: its paths with the blobs they will have (null: deleted), and what the work tree has beyond it. */
export interface Staged {
  blobs: ReadonlyMap<string, string | null>;
  leftOver: ReadonlySet<string>;
}

/** More paths than this are not named one by one. */
const NAMED_PATHS = 200;

/**
 * Against HEAD, by the index that git commits from (`git commit <path>` has one of its own). Where only certain paths matter,
 * only those are looked at.
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
  for (const line of splitNul(output)) {
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

/** Behind the eighth space. */
function pathStart(line: Buffer): number {
  let at = -1;
  for (let field = 0; field < 8; field++) at = line.indexOf(0x20, at + 1);
  return at + 1;
}

/** Of the staged paths, those whose content is another than in the tree `before`. */
export async function changedSince(trees: TreeStore, before: string, staged: Staged): Promise<string[]> {
  const changed: string[] = [];
  for (const [path, id] of staged.blobs) if ((await blobAt(trees, before, path)) !== id) changed.push(path);
  return changed;
}

/** Of `paths`, those that are not in HEAD as they are in the tree `work`. */
export async function uncommitted(
  workspace: Workspace,
  trees: TreeStore,
  work: string | null,
  paths: readonly string[],
): Promise<string[]> {
  const head = await tryGit(["rev-parse", "--verify", "--quiet", "HEAD^{tree}"], { cwd: workspace.root });
  const tree = head.stdout.toString("latin1").trim();
  if (head.code !== 0 || work === null) return [...paths];
  const left: string[] = [];
  for (const path of paths)
    if ((await blobAt(trees, tree, path)) !== (await blobAt(trees, work, path))) left.push(path);
  return left;
}

/**
 * Of `paths`, those that the work tree still holds differently from HEAD; null where that cannot be told, because a stash or a
 * rebase may have put them away for a while.
 */
export async function stillOpen(workspace: Workspace, paths: readonly string[]): Promise<Set<string> | null> {
  if (isReplaying(workspace) || hasRef(workspace, "refs/stash")) return null;
  const named = nameable(paths) ? paths : [];
  const args = ["--literal-pathspecs", "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
  const { code, stdout } = await tryGit([...args, "--", ...named], { cwd: workspace.root });
  if (code !== 0) return null;
  return new Set(splitNul(stdout).map((line) => decodePath(line.subarray(3))));
}

/** Whether git can be asked about these paths alone. */
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

/** git is replaying commits that were made before: they have their links already. */
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

/** Undefined before the first commit. */
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

/** The ref that HEAD names, or the commit it is detached at; undefined where only git can tell. */
function headRef({ gitDir, refStorage }: Workspace): string | undefined {
  if (refStorage !== "files") return undefined;
  const text = readFileSync(join(gitDir, "HEAD"), "utf8").trim();
  return text.startsWith("ref: ") ? text.slice(5).trim() : text;
}

async function resolveHead(workspace: Workspace): Promise<string> {
  return gitText(["rev-parse", "--verify", "--quiet", "HEAD"], { cwd: workspace.root });
}

function splitNul(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    parts.push(bytes.subarray(at, end === -1 ? bytes.length : end));
    if (end === -1) break;
    at = end + 1;
  }
  return parts;
}
