/**
 * Finds the checkpoints of commits that a new commit replaces without git passing on their messages: after
 * `git merge --squash` with a new message, and after `git reset --soft` or `--mixed`.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { readText } from "../base/fs/files.ts";
import { checkpointsIn, linkedIn } from "../checkpoints/links/trailers.ts";
import { tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";

const MAX_REPLACED_COMMITS = 50;
const MAX_CHECKPOINTS = 20;
const REFLOG_TAIL_BYTES = 4_096;
const RESET_ENTRY = /\treset: /;

/** Returns checkpoint ids, oldest first, without those that the message already names. */
export async function inheritedLinks(workspace: Workspace, message: string): Promise<string[]> {
  const squashed = checkpointsIn(readText(join(workspace.gitDir, "SQUASH_MSG")) ?? "").reverse();
  const found = new Set([...squashed, ...(await linksBeforeReset(workspace))]);
  for (const id of linkedIn(message)) found.delete(id);
  return [...found].slice(-MAX_CHECKPOINTS);
}

/**
 * The checkpoints of commits that a reset removed from the branch and that share a file with this commit. After
 * `--hard` there are none; if the user staged only some files again, commits without any of them are skipped.
 */
async function linksBeforeReset(workspace: Workspace): Promise<string[]> {
  if (!RESET_ENTRY.test(lastReflogEntry(workspace))) return [];
  const taken = await stagedChanges(workspace, "HEAD");
  for (const path of await stagedChanges(workspace, "ORIG_HEAD")) taken.delete(path);
  if (taken.size === 0) return [];
  const count = `--max-count=${MAX_REPLACED_COMMITS}`;
  const shown = ["--no-renames", "--name-only", "-z", "--format=%x01%B%x02"];
  const history = await tryGit(["log", count, ...shown, "HEAD..ORIG_HEAD", "--"], { cwd: workspace.root });
  const commits = history.stdout.toString("latin1").split("\u0001").slice(1);
  return commits.reverse().flatMap((commit) => {
    const [message = "", names = ""] = commit.split("\u0002");
    const isTaken = names.split("\0").some((name) => taken.has(name.replace(/^\n/, "")));
    return isTaken ? linkedIn(message) : [];
  });
}

/** Paths at which the index differs from `commit`, as latin1 strings (one character per byte). */
async function stagedChanges(workspace: Workspace, commit: string): Promise<Set<string>> {
  const index = process.env["GIT_INDEX_FILE"];
  const { code, stdout } = await tryGit(["diff-index", "--cached", "--name-only", "--no-renames", "-z", commit, "--"], {
    cwd: workspace.root,
    ...(index ? { env: { GIT_INDEX_FILE: index } } : {}),
  });
  return new Set(code === 0 ? stdout.toString("latin1").split("\0") : []);
}

function lastReflogEntry({ gitDir }: Workspace): string {
  let file: number;
  try {
    file = openSync(join(gitDir, "logs", "HEAD"), "r");
  } catch {
    return "";
  }
  try {
    const tail = Buffer.alloc(REFLOG_TAIL_BYTES);
    const read = readSync(file, tail, 0, tail.length, Math.max(0, fstatSync(file).size - tail.length));
    return tail.toString("latin1", 0, read).trimEnd().split("\n").at(-1) ?? "";
  } finally {
    closeSync(file);
  }
}
