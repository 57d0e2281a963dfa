/** Maps commits to checkpoints and back: by trailers, and by recorded links if a rewrite lost the trailer. */
import { gitIn } from "../../git/git.ts";
import { readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { BlamedCommit } from "../blame/git-blame.ts";
import { checkpointPlaces } from "../branch/location.ts";
import { CHECKPOINT_BRANCH, CHECKPOINT_TRAILER, isCheckpointName, SESSION_TRAILER } from "../format/layout.ts";
import { checkpointsNamedIn } from "../read/read.ts";
import { extraCommits, extraLinks } from "./rewrites.ts";

export interface LinkedCommit extends BlamedCommit {
  checkpoints: string[];
}

const MAX_COMMITS = 50;
const MAX_CHECKPOINTS = 1_000;
const FORMAT = "%H%x00%an%x00%aI%x00%s%x00%B%x00%x00";
/** Excludes the checkpoints' own history and other refs that are not the user's work. */
const USERS_REFS = [
  "--exclude=refs/heads/entire/*",
  "--exclude=refs/remotes/*/entire/*",
  "--exclude=refs/entire/*",
  "--exclude=refs/backtrail/*",
  "--exclude=refs/stash",
  "--all",
  "HEAD",
];

/** Resolves the revision that a user typed. */
export async function findCommit(workspace: Workspace, text: string): Promise<LinkedCommit | undefined> {
  if (workspace.kind === "private" || text.includes("\0")) return undefined;
  const id = await gitIn(workspace).resolve(`${text}^{commit}`);
  if (id === null || !/^[0-9a-f]{40,64}$/.test(id)) return undefined;
  return (await log(workspace, ["--max-count=1", id]))[0];
}

/** Newest first; from `all` branches, or from HEAD or another ref. */
export function recentCommits(
  workspace: Workspace,
  limit: number,
  all: boolean,
  ref = "HEAD",
): Promise<LinkedCommit[]> {
  const count = limit === 0 ? [] : [`--max-count=${limit}`];
  return log(workspace, [...count, ...(all ? USERS_REFS : [ref])]);
}

/** Returns the checkpoints that the message names, and those whose trailers a rewrite lost. */
export function checkpointsOfCommit(workspace: Workspace, commit: string, message: string): string[] {
  return [...new Set([...checkpointsNamedIn(message), ...extraLinks(workspace, commit)])];
}

/** Returns the commits of a checkpoint: several after a cherry-pick, none after the branch was deleted. */
export async function commitsNaming(workspace: Workspace, checkpoint: string): Promise<LinkedCommit[]> {
  if (!isCheckpointName(checkpoint)) return [];
  const grep = ["--fixed-strings", `--grep=${CHECKPOINT_TRAILER}: ${checkpoint}`];
  const found = await log(workspace, [`--max-count=${MAX_COMMITS}`, ...grep, ...USERS_REFS]);
  const known = new Set(found.map(({ id }) => id));
  for (const commit of extraCommits(workspace, checkpoint).slice(-MAX_COMMITS)) {
    if (known.has(commit) || !(await isReachable(workspace, commit))) continue;
    found.push(...(await log(workspace, ["--max-count=1", commit])));
  }
  return found.filter(({ checkpoints }) => checkpoints.includes(checkpoint));
}

/** False for a commit that a later rewrite has replaced. */
async function isReachable(workspace: Workspace, commit: string): Promise<boolean> {
  const git = gitIn(workspace);
  const ancestor = await git.try(["merge-base", "--is-ancestor", commit, "HEAD"]);
  if (ancestor.code === 0) return true;
  const places = ["refs/heads", "refs/remotes", "refs/tags"];
  const refs = await git.try(["for-each-ref", "--count=1", `--contains=${commit}`, ...places]);
  return refs.code === 0 && refs.stdout.length > 0;
}

/** Returns the checkpoints that contain a session, newest first, according to the branch's history. */
export async function checkpointsOfSession(workspace: Workspace, session: string): Promise<string[]> {
  if (/[\0\n]/.test(session)) return [];
  const found = await Promise.all(checkpointPlaces(workspace).map((place) => checkpointsAt(place, session)));
  return [...new Set(found.flat())];
}

async function checkpointsAt(place: Workspace, session: string): Promise<string[]> {
  if (!(await readRef(place, CHECKPOINT_BRANCH))) return [];
  const grep = ["--fixed-strings", `--grep=${SESSION_TRAILER}: ${session}`];
  const format = `--format=%s%x00%(trailers:key=${SESSION_TRAILER},valueonly,separator=%x00)`;
  const text = await gitIn(place).text(["log", `--max-count=${MAX_CHECKPOINTS}`, format, ...grep, CHECKPOINT_BRANCH]);
  const ids = text.split("\n").flatMap((line) => {
    const [subject = "", ...sessions] = line.split("\0");
    // The search text may be a prefix of another id.
    return sessions.includes(session) ? [/^Checkpoint: (\S+)$/.exec(subject)?.[1] ?? ""] : [];
  });
  return [...new Set(ids.filter(isCheckpointName))];
}

async function log(workspace: Workspace, options: readonly string[]): Promise<LinkedCommit[]> {
  if (workspace.kind === "private") return [];
  const result = await gitIn(workspace).try(["log", "--no-show-signature", `--format=${FORMAT}`, ...options, "--"]);
  // A repository without commits has no HEAD.
  if (result.code !== 0) return [];
  return result.stdout
    .toString("utf8")
    .split("\0\0\n")
    .flatMap((entry) => {
      const [id = "", author = "", time = "", subject = "", message = ""] = entry.split("\0");
      return id === "" ? [] : [{ id, author, time, subject, checkpoints: checkpointsOfCommit(workspace, id, message) }];
    });
}
