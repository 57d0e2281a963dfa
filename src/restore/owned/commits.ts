/**
 * Finds commits that only a worktree refers to, by its branch, HEAD, reflogs, per-worktree refs (`refs/worktree/`,
 * `refs/bisect/`), an unfinished operation or the index. Our own refs hold them when the worktree is deleted.
 */

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { namesIn, removeFile } from "../../base/fs/files.ts";
import { gitIn } from "../../git/git.ts";
import { compareAndSwapRef, readRef } from "../../git/refs.ts";
import { git, gitText, tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { droppedRef } from "../../steps/forks.ts";
import { ForkError } from "../fork/problems.ts";

export interface WorktreeCommits {
  /** The branch's last commit, if no other branch, tag or remote has it. */
  tip: string | null;
  /** The checked-out commit, if no branch, tag or remote has it. */
  head: string | null;
  /** Commits that only reflogs or operation files name, without ancestors of other such commits. */
  others: string[];
  /** Per-worktree refs. */
  refs: { name: string; object: string }[];
}

/** Our refs that hold the commits; null if there was nothing to hold. */
export interface HeldCommits {
  tip: string | null;
  head: string | null;
  others: string | null;
  refs: string[];
}

/** Larger files contain no relevant commit ids. */
const MAX_STATE_FILE = 1 << 20;
const OBJECT_ID = /\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/g;
const HOLDER = "Backtrail <backtrail@localhost> 0 +0000";

/**
 * `adminDir` is git's record of the worktree, or null. Branches that match `except` do not count as holding commits.
 */
export async function worktreeCommits(
  workspace: Workspace,
  branch: string | null,
  adminDir: string | null,
  except: string = branch ?? "",
): Promise<WorktreeCommits> {
  const tip = branch === null ? null : await commitAt(workspace, [], `refs/heads/${branch}`);
  const inAdmin = adminDir === null ? [] : ["--git-dir", adminDir];
  const head = adminDir === null ? null : await commitAt(workspace, inAdmin, "HEAD");
  const refs = adminDir === null ? [] : await ownRefs(workspace, inAdmin);
  const logged = await loggedCommits(workspace, branch, adminDir);
  const named = [...logged, ...(adminDir === null ? [] : stateCommits(adminDir))];
  const ownTip = tip !== null && (await isOnlyOn(workspace, except, tip)) ? tip : null;
  const ownHead = head !== null && head !== tip && (await isOnlyOn(workspace, "", head)) ? head : null;
  const held = [ownTip, ownHead].filter((id) => id !== null);
  return { tip: ownTip, head: ownHead, others: await unreachable(workspace, except, named, held), refs };
}

/** `id` becomes part of the ref names. */
export async function holdCommits(workspace: Workspace, id: string, commits: WorktreeCommits): Promise<HeldCommits> {
  const { tip, head, others, refs } = commits;
  const held: HeldCommits = {
    tip: tip && (await hold(workspace, id, tip)),
    head: head && (await hold(workspace, `${id}-head`, head)),
    others: null,
    refs: [],
  };
  if (others.length > 0) held.others = await hold(workspace, `${id}-reflog`, await joined(workspace, others));
  for (const { name, object } of refs)
    held.refs.push(await hold(workspace, `${id}-refs/${name.slice("refs/".length)}`, object));
  return held;
}

/**
 * Holds the index of a worktree whose directory no longer exists, unless it matches the commit. Returns the ref or
 * null.
 */
export async function holdIndex(workspace: Workspace, id: string, adminDir: string): Promise<string | null> {
  if (!lstatSync(join(adminDir, "index"), { throwIfNoEntry: false })) return null;
  const cwd = workspace.root;
  const args = ["--git-dir", adminDir];
  const staged = await tryGit([...args, "diff-index", "--cached", "--quiet", "HEAD"], { cwd });
  if (staged.code === 0) return null;
  // Stages become directories, because a tree can't hold the several versions of a conflicting path under one name.
  const listed = await git([...args, "ls-files", "--stage", "-z"], { cwd });
  const lines = listed.toString("latin1").split("\0").filter(Boolean);
  if (lines.length === 0) return null;
  const numbered = lines.map((line) => {
    const [mode = "", object = "", stage = "0"] = line.slice(0, line.indexOf("\t")).split(" ");
    return `${mode} ${object}\t${stage}/${line.slice(line.indexOf("\t") + 1)}\0`;
  });
  const index = join(adminDir, "backtrail-staged");
  const env = { GIT_INDEX_FILE: index };
  try {
    // An intent-to-add entry refers to the empty blob, which may not exist yet.
    await git([...args, "hash-object", "-w", "--stdin"], { cwd, input: "" });
    const input = Buffer.from(numbered.join(""), "latin1");
    await git([...args, "update-index", "-z", "--index-info"], { cwd, env, input });
    const tree = await gitText([...args, "write-tree"], { cwd, env });
    return await hold(workspace, `${id}-index`, await commitOf(workspace, tree, [], "Staged files, by stage"));
  } finally {
    removeFile(index);
  }
}

async function commitAt(workspace: Workspace, args: readonly string[], name: string): Promise<string | null> {
  const { args: place, cwd } = gitIn(workspace);
  const where = args.length > 0 ? args : place;
  const found = await tryGit([...where, "rev-parse", "--verify", "--quiet", `${name}^{commit}`], { cwd });
  return found.code === 0 ? found.stdout.toString("latin1").trim() : null;
}

/** True if no branch, tag or remote has the commit except this branch, or branches that match this pattern. */
async function isOnlyOn(workspace: Workspace, branch: string, commit: string): Promise<boolean> {
  const left = await gitIn(workspace).try(["rev-list", "--max-count=1", commit, "--not", ...elsewhere(branch)]);
  return left.code !== 0 || left.stdout.length > 0;
}

function elsewhere(branch: string): string[] {
  return [`--exclude=${branch}`, "--branches", "--tags", "--remotes"];
}

async function ownRefs(workspace: Workspace, args: readonly string[]): Promise<WorktreeCommits["refs"]> {
  const cwd = workspace.root;
  const patterns = ["refs/worktree", "refs/bisect", "refs/rewritten"];
  const listed = await tryGit([...args, "for-each-ref", "--format=%(objectname) %(refname)", ...patterns], { cwd });
  return listed.stdout
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      const space = line.indexOf(" ");
      return space === -1 ? [] : [{ object: line.slice(0, space), name: line.slice(space + 1) }];
    });
}

/** Reads both ids of each entry, because a reflog may have lost its beginning. */
async function loggedCommits(workspace: Workspace, branch: string | null, adminDir: string | null): Promise<string[]> {
  if (workspace.refStorage !== "files") return loggedByGit(workspace, branch, adminDir);
  const logs = adminDir === null ? [] : filesBelow(join(adminDir, "logs"));
  if (branch !== null) logs.push(join(workspace.commonDir, "logs", "refs", "heads", branch));
  return logs.flatMap((file) =>
    textOf(file, Number.POSITIVE_INFINITY)
      .split("\n")
      .flatMap((line) => line.slice(0, line.indexOf("\t")).match(OBJECT_ID) ?? []),
  );
}

async function loggedByGit(workspace: Workspace, branch: string | null, adminDir: string | null): Promise<string[]> {
  const { args, cwd } = gitIn(workspace);
  const show = ["reflog", "show", "--format=%H"];
  const asked = [
    ...(adminDir === null ? [] : [["--git-dir", adminDir, ...show, "HEAD"]]),
    ...(branch === null ? [] : [[...args, ...show, `refs/heads/${branch}`]]),
  ];
  const answers = await Promise.all(asked.map((command) => tryGit(command, { cwd })));
  return answers.flatMap(({ stdout }) => stdout.toString("latin1").match(OBJECT_ID) ?? []);
}

/** Commits that an operation recorded: the original one, those still to apply, and autostashes. */
function stateCommits(adminDir: string): string[] {
  const heads = namesIn(adminDir).filter((name) => /^[A-Z_]+$/.test(name));
  const directories = ["rebase-merge", "rebase-apply", "sequencer"];
  const files = [
    ...heads.map((name) => join(adminDir, name)),
    ...directories.flatMap((name) => filesBelow(join(adminDir, name))),
  ];
  return files.flatMap((file) => textOf(file, MAX_STATE_FILE).match(OBJECT_ID) ?? []);
}

/** The given commits that exist and that nothing else holds, without ancestors of others. */
async function unreachable(
  workspace: Workspace,
  except: string,
  named: readonly string[],
  held: readonly string[],
): Promise<string[]> {
  const ids = [...new Set(named)].filter((id) => !/^0+$/.test(id));
  if (ids.length === 0) return [];
  const git = gitIn(workspace);
  const checked = await git.text(["cat-file", "--batch-check"], { input: `${ids.join("\n")}\n` });
  const commits = checked.split("\n").flatMap((line) => /^([0-9a-f]+) commit /.exec(line)?.[1] ?? []);
  if (commits.length === 0) return [];
  const input = [...commits, ...held.map((id) => `^${id}`), ""].join("\n");
  const list = ["rev-list", "--parents", "--stdin", "--not", ...elsewhere(except)];
  const lines = (await git.text(list, { input })).split("\n").filter(Boolean);
  const parents = new Set(lines.flatMap((line) => line.split(" ").slice(1)));
  return lines.flatMap((line) => line.split(" ")[0] ?? []).filter((id) => !parents.has(id));
}

/** A single commit that has all of them as ancestors. */
async function joined(workspace: Workspace, commits: readonly string[]): Promise<string> {
  const tree = await gitIn(workspace).text(["rev-parse", `${commits[0]}^{tree}`]);
  return commitOf(workspace, tree, commits, "Commits that only the reflog of a dropped worktree had");
}

/** Deterministic for the same commits, so that repeating it changes nothing. */
async function commitOf(workspace: Workspace, tree: string, parents: readonly string[], message: string) {
  const lines = [`tree ${tree}`, ...parents.map((id) => `parent ${id}`), `author ${HOLDER}`, `committer ${HOLDER}`];
  const input = `${lines.join("\n")}\n\n${message}\n`;
  return gitIn(workspace).text(["hash-object", "-t", "commit", "-w", "--stdin"], { input });
}

async function hold(workspace: Workspace, id: string, object: string): Promise<string> {
  const ref = droppedRef(id, now());
  const before = await readRef(workspace, ref);
  if (before === object || (await compareAndSwapRef(workspace, ref, before, object))) return ref;
  throw new ForkError("failed", { kind: "commits-not-kept" });
}

function filesBelow(directory: string): string[] {
  return namesIn(directory).flatMap((name) => {
    const path = join(directory, name);
    return lstatSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

function textOf(file: string, maxBytes: number): string {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > maxBytes) return "";
  return readFileSync(file, "latin1");
}
