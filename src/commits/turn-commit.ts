/**
 * Commits without disturbing the user's index: git commits from a private copy, with the user's hooks. Afterwards the
 * user's index is updated, for each path whose entry has not changed meanwhile. If this process is killed in between,
 * the next worker updates the index.
 */
import { constants, copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { faultPoint } from "../base/fault-point.ts";
import { readJson, removeFile, writeJson } from "../base/fs/files.ts";
import { log, logError } from "../base/log.ts";
import { oneLine, shownPath } from "../base/text.ts";
import { openObjects } from "../checkpoints/write/write.ts";
import { entryKey, type IndexEntry, indexEntries, indexLine } from "../git/index/entries.ts";
import { changeUserIndex } from "../git/index/user-index.ts";
import { compareTrees } from "../git/objects/tree-diff.ts";
import { entryAt, TREE_MODE, type TreeEntry, type TreeStore } from "../git/objects/trees.ts";
import { privateObjects } from "../git/private/store.ts";
import { git, gitText, tryGit } from "../git/run.ts";
import type { Capture, Snapshot } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import { WHOLE_TURNS } from "./hooks.ts";
import type { SeparatedChanges } from "./turn-changes.ts";

const INDEX_ATTEMPTS = 50;
const INDEX_WAIT_MS = 100;

/** The index update that follows the commit: auto-commit.json in the work tree's state. */
interface Following {
  v: 1;
  files: FollowingFile[];
}

interface FollowingFile {
  path: string;
  /** The index entries before the commit. */
  seen: IndexEntry[];
  /** The commit's entry; if HEAD has the same entry, the commit was made. */
  committed: TreeEntry | null;
  staged: TreeEntry | null;
}

export interface HeadState {
  commit: string;
  tree: string;
}

/** Returns whether the commit was made. */
export async function commitChanges(
  workspace: Workspace,
  capture: Capture,
  present: Snapshot,
  head: HeadState,
  { commit, staged }: SeparatedChanges,
  message: string,
): Promise<boolean> {
  const { trees } = capture;
  const tree = await trees.apply(head.tree, commit);
  if (tree === head.tree) return false;
  await writeObjects(workspace, capture, [...commit.values(), ...staged.values()]);
  const index = join(workspace.stateDir, `commit.${process.pid}.tmp`);
  const env = { GIT_INDEX_FILE: index };
  try {
    copyIndex(workspace, index);
    const seen = await indexEntries(workspace, env, [...commit.keys()]);
    if (!(await fillIndex(workspace, trees, present, tree, env))) return false;
    const files = [...commit].map(([path, committed]) => {
      return { path, seen: seen.get(path) ?? [], committed, staged: staged.get(path) ?? null };
    });
    writeJson(followingFile(workspace), { v: 1, files } satisfies Following, { sync: true });
    faultPoint("auto-commit:ready");
    const done = await runCommit(workspace, head, env, message);
    faultPoint("auto-commit:made");
    if (done) await followCommit(workspace, trees, head.tree);
    else removeFile(followingFile(workspace));
    return done;
  } finally {
    removeFile(index);
    removeFile(`${index}.lock`);
  }
}

/** Updates the user's index after a commit by a process that was killed. */
export async function finishFollowing(workspace: Workspace): Promise<void> {
  if (!existsSync(followingFile(workspace))) return;
  const { trees, reader } = openObjects(workspace);
  try {
    await followCommit(workspace, trees);
  } finally {
    reader.close();
  }
}

/** Updates the index if the commit was made. `before` is its parent's tree, if this process made the commit. */
async function followCommit(workspace: Workspace, trees: TreeStore, before?: string): Promise<void> {
  const following = readFollowing(workspace);
  if (!following) return removeFile(followingFile(workspace));
  const head = await gitText(["rev-parse", "--verify", "--quiet", "HEAD^{tree}"], { cwd: workspace.root });
  const ready: FollowingFile[] = [];
  for (const file of following.files) {
    const now = await fileAt(trees, head, file.path);
    if (sameEntry(now, file.committed)) ready.push(file);
    // A hook of the user changed the file during the commit; the user has not staged it, so the index can follow.
    else if (sameEntry(file.staged, file.committed)) ready.push({ ...file, staged: now });
  }
  const known = new Set(following.files.map(({ path }) => path));
  // Files that a hook of the user added to the commit.
  for (const { path, before: was, after } of before === undefined ? [] : await compareTrees(trees, before, head)) {
    const seen: IndexEntry[] = was ? [[0, was.mode, was.id]] : [];
    if (!known.has(path)) ready.push({ path, seen, committed: after, staged: after });
  }
  for (let attempt = 0; attempt < INDEX_ATTEMPTS; attempt++) {
    if ((await follow(workspace, ready)) !== "locked") break;
    await new Promise((resolve) => setTimeout(resolve, INDEX_WAIT_MS));
  }
  removeFile(followingFile(workspace));
}

/** Writes the committed blobs to the user's repository: steps may keep them in the private object store. */
async function writeObjects(
  workspace: Workspace,
  { reader, writer, scratch }: Capture,
  entries: readonly (TreeEntry | null)[],
): Promise<void> {
  scratch.writer.flush();
  if (privateObjects(workspace) !== undefined)
    for (const entry of entries) if (entry) writer.add("blob", await reader.require(entry.id, "blob"));
  writer.flush();
}

/** Copies the user's index, whose file timestamps spare git from reading every file. */
function copyIndex({ gitDir }: Workspace, index: string): void {
  removeFile(index);
  const own = join(gitDir, "index");
  if (existsSync(own)) copyFileSync(own, index, constants.COPYFILE_FICLONE);
}

/** Loads the tree to commit into the copied index; returns false if the index no longer matches the snapshot. */
async function fillIndex(
  workspace: Workspace,
  trees: TreeStore,
  present: Snapshot,
  tree: string,
  env: { GIT_INDEX_FILE: string },
): Promise<boolean> {
  const wanted = new Map<string, TreeEntry | null>();
  for (const { path, after } of await compareTrees(trees, present.index, tree)) wanted.set(path, after);
  for (const path of [...present.unmerged.map((unmerged) => unmerged.path), ...present.intentToAdd])
    wanted.set(path, await fileAt(trees, tree, path));
  const options = { cwd: workspace.root, env };
  const update = ["-c", "core.splitIndex=false", "update-index", "-z", "--index-info"];
  await git(update, { ...options, input: indexLines(workspace, wanted) });
  const written = await tryGit(["write-tree"], options);
  // On a mismatch the user has staged something since the snapshot: the next worker retries.
  return written.code === 0 && written.stdout.toString("latin1").trim() === tree;
}

async function runCommit(
  workspace: Workspace,
  head: HeadState,
  env: Record<string, string>,
  message: string,
): Promise<boolean> {
  const options = { cwd: workspace.root };
  const headNow = () => gitText(["rev-parse", "--verify", "--quiet", "HEAD"], options);
  if ((await headNow()) !== head.commit) return false;
  // Disable git's maintenance: if killed along with this process, it would leave a lock that blocks it permanently.
  const settings = ["-c", "maintenance.auto=false", "-c", "gc.auto=0"];
  const done = await tryGit([...settings, "commit", "--quiet", "--message", message], {
    ...options,
    env: { ...env, GIT_EDITOR: "true", [WHOLE_TURNS]: "1" },
  });
  if (done.code !== 0) {
    log("warn", "auto-commit", `git refused the commit: ${oneLine(done.stderr).slice(0, 300)}`);
    return false;
  }
  const made = await headNow();
  const [parent] = (await gitText(["rev-parse", `${made}^@`], options)).split("\n");
  if (parent === head.commit) return true;
  // Another commit was made just before git read HEAD: this commit would revert it.
  await tryGit(["update-ref", "-m", "backtrail: HEAD had moved", "HEAD", parent ?? "", made], options);
  log("warn", "auto-commit", "HEAD moved while a turn was committed; it is tried again.");
  return false;
}

async function follow(workspace: Workspace, files: readonly FollowingFile[]): Promise<"done" | "refused" | "locked"> {
  if (files.length === 0) return "done";
  return changeUserIndex(workspace, async (env) => {
    const current = await indexEntries(
      workspace,
      env,
      files.map(({ path }) => path),
    );
    const wanted = new Map<string, TreeEntry | null>();
    for (const { path, seen, staged } of files) {
      if (entryKey(current.get(path)) === entryKey(seen)) wanted.set(path, staged);
      else log("info", "auto-commit", `Staged changes of ${shownPath(path)} has changed meanwhile and is left.`);
    }
    const input = indexLines(workspace, wanted);
    return (await tryGit(["update-index", "-z", "--index-info"], { cwd: workspace.root, env, input })).code === 0;
  });
}

/** Lists removals first: only then can a file replace a directory. */
function indexLines(workspace: Workspace, entries: ReadonlyMap<string, TreeEntry | null>): Buffer {
  const idLength = workspace.hash === "sha1" ? 40 : 64;
  const lines = [...entries.keys()].map((path) => indexLine(path, null, 0, idLength));
  for (const [path, entry] of entries) if (entry) lines.push(indexLine(path, entry));
  return Buffer.concat(lines);
}

async function fileAt(trees: TreeStore, tree: string, path: string): Promise<TreeEntry | null> {
  const entry = await entryAt(trees, tree, path);
  return entry?.mode === TREE_MODE ? null : entry;
}

function sameEntry(a: TreeEntry | null, b: TreeEntry | null): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

function followingFile({ stateDir }: Workspace): string {
  return join(stateDir, "auto-commit.json");
}

function readFollowing(workspace: Workspace): Following | undefined {
  try {
    const found = readJson(followingFile(workspace)) as Partial<Following> | undefined;
    return found?.v === 1 && Array.isArray(found.files) ? (found as Following) : undefined;
  } catch (error) {
    logError("auto-commit", error);
    return undefined;
  }
}
