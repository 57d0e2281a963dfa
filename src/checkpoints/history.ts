/** Between commits and checkpoints, in both directions: by the trailer, and by what was noted where a rewrite lost it. */
import { gitLocation } from "../git/location.ts";
import { readRef } from "../git/refs.ts";
import { gitText, tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import type { BlamedCommit } from "./git-blame.ts";
import { CHECKPOINT_BRANCH, CHECKPOINT_TRAILER, isCheckpointName, SESSION_TRAILER } from "./layout.ts";
import { checkpointsNamedIn } from "./read.ts";
import { extraCommits, extraLinks } from "./rewrites.ts";

export interface LinkedCommit extends BlamedCommit {
  checkpoints: string[];
}

const MOST_COMMITS = 50;
const MOST_CHECKPOINTS = 1_000;
const FORMAT = "%H%x00%an%x00%aI%x00%s%x00%B%x00%x00";
/** Not the checkpoints' own history, nor what else is no work of the user's. */
const USERS_REFS = [
  "--exclude=refs/heads/entire/*",
  "--exclude=refs/remotes/*/entire/*",
  "--exclude=refs/entire/*",
  "--exclude=refs/backtrail/*",
  "--exclude=refs/stash",
  "--all",
  "HEAD",
];

/** The commit that a person means by `text`. */
export async function findCommit(workspace: Workspace, text: string): Promise<LinkedCommit | undefined> {
  if (workspace.kind === "private" || text.includes("\0")) return undefined;
  const { args, cwd } = gitLocation(workspace);
  const found = await tryGit([...args, "rev-parse", "--verify", "--quiet", "--end-of-options", `${text}^{commit}`], {
    cwd,
  });
  const id = found.stdout.toString("latin1").trim();
  if (found.code !== 0 || !/^[0-9a-f]{40,64}$/.test(id)) return undefined;
  return (await log(workspace, ["--max-count=1", id]))[0];
}

/** Newest first; `all` branches, or what led to HEAD. */
export function recentCommits(workspace: Workspace, limit: number, all: boolean): Promise<LinkedCommit[]> {
  const count = limit === 0 ? [] : [`--max-count=${limit}`];
  return log(workspace, [...count, ...(all ? USERS_REFS : ["HEAD"])]);
}

/** Those that its message names, and those that a rewrite of the history took out of it. */
export function checkpointsOfCommit(workspace: Workspace, commit: string, message: string): string[] {
  return [...new Set([...checkpointsNamedIn(message), ...extraLinks(workspace, commit)])];
}

/** The commits that a checkpoint belongs to: more than one after a cherry-pick, none after the branch went. */
export async function commitsNaming(workspace: Workspace, checkpoint: string): Promise<LinkedCommit[]> {
  if (!isCheckpointName(checkpoint)) return [];
  const grep = ["--fixed-strings", `--grep=${CHECKPOINT_TRAILER}: ${checkpoint}`];
  const found = await log(workspace, [`--max-count=${MOST_COMMITS}`, ...grep, ...USERS_REFS]);
  const known = new Set(found.map(({ id }) => id));
  for (const commit of extraCommits(workspace, checkpoint).slice(-MOST_COMMITS)) {
    if (known.has(commit) || !(await isReachable(workspace, commit))) continue;
    found.push(...(await log(workspace, ["--max-count=1", commit])));
  }
  return found.filter(({ checkpoints }) => checkpoints.includes(checkpoint));
}

/** A commit that another rewrite has replaced since is nobody's any more. */
async function isReachable(workspace: Workspace, commit: string): Promise<boolean> {
  const { args, cwd } = gitLocation(workspace);
  const ancestor = await tryGit([...args, "merge-base", "--is-ancestor", commit, "HEAD"], { cwd });
  if (ancestor.code === 0) return true;
  const places = ["refs/heads", "refs/remotes", "refs/tags"];
  const refs = await tryGit([...args, "for-each-ref", "--count=1", `--contains=${commit}`, ...places], { cwd });
  return refs.code === 0 && refs.stdout.length > 0;
}

/** The checkpoints that a session is part of, newest first, as the branch's own history tells. */
export async function checkpointsOfSession(workspace: Workspace, session: string): Promise<string[]> {
  if (!(await readRef(workspace, CHECKPOINT_BRANCH)) || /[\0\n]/.test(session)) return [];
  const { args, cwd } = gitLocation(workspace);
  const grep = ["--fixed-strings", `--grep=${SESSION_TRAILER}: ${session}`];
  const format = `--format=%s%x00%(trailers:key=${SESSION_TRAILER},valueonly,separator=%x00)`;
  const text = await gitText([...args, "log", `--max-count=${MOST_CHECKPOINTS}`, format, ...grep, CHECKPOINT_BRANCH], {
    cwd,
  });
  const ids = text.split("\n").flatMap((line) => {
    const [subject = "", ...sessions] = line.split("\0");
    // What was searched for may be the beginning of another id.
    return sessions.includes(session) ? [/^Checkpoint: (\S+)$/.exec(subject)?.[1] ?? ""] : [];
  });
  return [...new Set(ids.filter(isCheckpointName))];
}

async function log(workspace: Workspace, options: readonly string[]): Promise<LinkedCommit[]> {
  if (workspace.kind === "private") return [];
  const { args, cwd } = gitLocation(workspace);
  const result = await tryGit([...args, "log", "--no-show-signature", `--format=${FORMAT}`, ...options, "--"], { cwd });
  // A repository without commits has no HEAD to begin at.
  if (result.code !== 0) return [];
  return result.stdout
    .toString("utf8")
    .split("\0\0\n")
    .flatMap((entry) => {
      const [id = "", author = "", time = "", subject = "", message = ""] = entry.split("\0");
      return id === "" ? [] : [{ id, author, time, subject, checkpoints: checkpointsOfCommit(workspace, id, message) }];
    });
}
