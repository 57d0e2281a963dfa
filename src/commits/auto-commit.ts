/**
 * Implements the strategy `auto-commit`: after each turn that changed files, commits only these changes to the current
 * branch, without the user's staged or unstaged changes. The user's hooks run, and our hooks link the commit to its
 * conversation like any other commit.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson, removeFile, writeJson } from "../base/fs/files.ts";
import { pathMatcher } from "../base/fs/glob.ts";
import { log } from "../base/log.ts";
import { globMatcher } from "../base/runtime.ts";
import { oneLine, shorten, shownPath } from "../base/text.ts";
import { pendingKeys, readCondensed, readPending } from "../checkpoints/write/pending.ts";
import { openRedaction } from "../checkpoints/write/redaction.ts";
import { isReplaying, readHead, stillOpen } from "../checkpoints/write/staged-changes.ts";
import { loadConfig } from "../config/load.ts";
import { tryGit } from "../git/run.ts";
import { startCapture } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import { changedPaths } from "../model/changes.ts";
import { captureOptions } from "../recording/dispatcher.ts";
import { loadSession, marked, type SessionState } from "../recording/session/store.ts";
import { stepsIn } from "../steps/log.ts";
import { type LeftFile, separateChanges, type TurnChange } from "./turn-changes.ts";
import { commitChanges, finishFollowing, type HeadState } from "./turn-commit.ts";

/** In the list of protected branches, means the default branch of `origin`. */
const DEFAULT_BRANCH = "origin/HEAD";
const SUBJECT_LENGTH = 72;

export async function commitTurns(workspace: Workspace): Promise<void> {
  await finishFollowing(workspace);
  if (workspace.kind === "private" || loadConfig(workspace).strategy !== "auto-commit") return;
  const keys = pendingKeys(workspace);
  // A running turn is still changing files; they are committed when it ends.
  if (keys.length === 0 || marked(workspace, "active").length > 0) return;
  const objection = await whyNot(workspace);
  if (objection !== null) return log("info", "auto-commit", objection);
  const left: LeftFile[] = [];
  for (const key of keys) {
    const state = loadSession(workspace, key);
    if (state) left.push(...(await commitSession(workspace, key, state)));
  }
  noteLeft(workspace, left);
}

/** Returns the files that were left to the user. */
async function commitSession(workspace: Workspace, key: string, state: SessionState): Promise<LeftFile[]> {
  const { files } = readPending(workspace, key);
  const open = await stillOpen(workspace, files);
  // Never commit files of `capture.include`, which the user keeps private.
  const isPrivate = pathMatcher(loadConfig(workspace).capture.include);
  const paths = files.filter((path) => open?.has(path) && !isPrivate(path));
  const head = paths.length > 0 ? await headState(workspace) : undefined;
  if (!head) return [];
  const capture = startCapture(workspace, captureOptions(loadConfig(workspace)));
  try {
    const present = await capture.finish();
    const turns = turnsOf(workspace, state, readCondensed(workspace, key).since.turn);
    const objects = { ...capture.scratch, reader: capture.reader };
    const changes = await separateChanges(workspace, objects, head.tree, present, turns, paths);
    if (present.head === head.commit && changes.commit.size > 0)
      await commitChanges(workspace, capture, present, head, changes, await messageOf(workspace, state));
    return changes.left;
  } finally {
    capture.close();
  }
}

async function headState({ root }: Workspace): Promise<HeadState | undefined> {
  const { code, stdout } = await tryGit(["rev-parse", "HEAD", "HEAD^{tree}"], { cwd: root });
  const [commit, tree] = stdout.toString("latin1").split("\n");
  return code === 0 && commit && tree ? { commit, tree } : undefined;
}

/** The session's turns in this work tree after `since`, oldest first. */
function turnsOf(workspace: Workspace, { id, agent }: SessionState, since: number): TurnChange[] {
  const turns: TurnChange[] = [];
  let before: string | undefined;
  for (const step of stepsIn(workspace).oldestFirst({ worktree: workspace.worktree, agent, session: id })) {
    const { work, index } = step.snapshot;
    if (step.kind === "turn-end" && step.turn > since) {
      turns.push({ before: before ?? index, after: work, paths: changedPaths(step.files) });
    }
    if (step.kind === "turn-start" || step.kind === "turn-end" || before === undefined) before = work;
  }
  return turns;
}

/** Files that auto-commit has left to the user and that are still uncommitted. */
export function leftToUser(workspace: Workspace): LeftFile[] {
  const pending = new Set(pendingKeys(workspace).flatMap((key) => readPending(workspace, key).files));
  try {
    const found = readJson(leftFile(workspace)) as { v?: number; files?: LeftFile[] } | undefined;
    if (found?.v !== 1 || !Array.isArray(found.files)) return [];
    return found.files.filter(({ path }) => pending.has(path));
  } catch {
    return [];
  }
}

function noteLeft(workspace: Workspace, files: readonly LeftFile[]): void {
  for (const { path, why } of files) log("info", "auto-commit", `${shownPath(path)} is left to you: ${why}.`);
  if (files.length === 0) removeFile(leftFile(workspace));
  else writeJson(leftFile(workspace), { v: 1, files });
}

function leftFile({ stateDir }: Workspace): string {
  return join(stateDir, "not-committed.json");
}

/** The redacted prompt: others may see the commit message. */
async function messageOf(workspace: Workspace, state: SessionState): Promise<string> {
  const last = stepsIn(workspace).newest({ session: state.id, kinds: ["turn-end"] });
  const prompt = (await openRedaction(workspace)).text(last?.prompt ?? "");
  return shorten(oneLine(prompt), SUBJECT_LENGTH) || `Turn ${state.turn} of ${state.agent}`;
}

async function whyNot(workspace: Workspace): Promise<string | null> {
  // While another git holds the index, it could not follow the commit.
  const isBusy = ["MERGE_HEAD", "index.lock"].some((name) => existsSync(join(workspace.gitDir, name)));
  if (isReplaying(workspace) || isBusy) return "a git operation is in progress.";
  const head = await readHead(workspace);
  if (!head) return "There is no commit yet.";
  if (head.branch === null) return "HEAD is detached.";
  if (await isProtected(workspace, head.branch)) return `${head.branch} is a protected branch.`;
  return null;
}

/** Protected branches are names or patterns such as `release/*`. */
async function isProtected(workspace: Workspace, branch: string): Promise<boolean> {
  const patterns = loadConfig(workspace).auto_commit.protected;
  if (patterns.some((pattern) => pattern === branch || globMatcher(pattern)(branch))) return true;
  if (!patterns.includes(DEFAULT_BRANCH)) return false;
  const args = ["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"];
  const { stdout } = await tryGit(args, { cwd: workspace.root });
  return stdout.toString("utf8").trim() === `refs/remotes/origin/${branch}`;
}
