/**
 * The strategy `auto-commit`: after each turn that changed files, a commit of just these files on the branch that is checked out. The
 * user's own hooks run, and ours tie the commit to its conversation like any other.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { log } from "../base/log.ts";
import { oneLine, shorten } from "../base/text.ts";
import { isReplaying, readHead, stillOpen } from "../checkpoints/link.ts";
import { pendingKeys, readPending } from "../checkpoints/pending.ts";
import { openRedaction } from "../checkpoints/redacted.ts";
import { loadConfig } from "../config/load.ts";
import { tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { listSteps } from "../steps/list.ts";
import { loadSession, marked, type SessionState } from "./session-state.ts";

/** In the list of protected branches: whatever `origin` calls its default. */
const DEFAULT_BRANCH = "origin/HEAD";
const SUBJECT_LENGTH = 72;

export async function commitTurns(workspace: Workspace): Promise<void> {
  if (workspace.kind === "private" || loadConfig(workspace.root).strategy !== "auto-commit") return;
  const keys = pendingKeys(workspace);
  // A turn that runs is changing files: they are taken when it ends.
  if (keys.length === 0 || marked(workspace, "active").length > 0) return;
  const objection = await whyNot(workspace);
  if (objection !== null) return log("info", "auto-commit", objection);
  for (const key of keys) {
    const state = loadSession(workspace, key);
    if (state) await commitSession(workspace, state, readPending(workspace, key).files);
  }
}

async function commitSession(workspace: Workspace, state: SessionState, files: readonly string[]): Promise<void> {
  const open = await stillOpen(workspace, files);
  const paths = files.filter((path) => open?.has(path) && !/[\udc80-\udcff]/.test(path));
  if (paths.length === 0) return;
  const options = { cwd: workspace.root, env: { GIT_EDITOR: "true" } };
  const list = { ...options, input: `${paths.join("\0")}\0` };
  const from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  const added = await tryGit(["--literal-pathspecs", "add", "--all", ...from], list);
  const message = await messageOf(workspace, state);
  // git's maintenance is for the user's own commits: killed with us, it would leave a lock that stops it for good.
  const settings = ["-c", "maintenance.auto=false", "-c", "gc.auto=0"];
  const commit = [...settings, "--literal-pathspecs", "commit", "--quiet", "--only", "--message", message, ...from];
  const done = added.code === 0 ? await tryGit(commit, list) : added;
  if (done.code !== 0) log("warn", "auto-commit", `git refused the commit: ${oneLine(done.stderr).slice(0, 300)}`);
}

/** The prompt, which becomes part of a history that others may see. */
async function messageOf(workspace: Workspace, state: SessionState): Promise<string> {
  const last = listSteps(workspace, { session: state.id, all: true }).find((step) => step.kind === "turn-end");
  const prompt = (await openRedaction(workspace)).text(last?.prompt ?? "");
  return shorten(oneLine(prompt), SUBJECT_LENGTH) || `Turn ${state.turn} of ${state.agent}`;
}

async function whyNot(workspace: Workspace): Promise<string | null> {
  if (isReplaying(workspace) || existsSync(join(workspace.gitDir, "MERGE_HEAD")))
    return "git is in the middle of something.";
  const head = await readHead(workspace);
  if (!head) return "There is no commit yet.";
  if (head.branch === null) return "HEAD is detached.";
  if (await isProtected(workspace, head.branch)) return `${head.branch} is a protected branch.`;
  return null;
}

/** Names, or patterns such as `release/*`. */
async function isProtected(workspace: Workspace, branch: string): Promise<boolean> {
  const patterns = loadConfig(workspace.root).auto_commit.protected;
  if (patterns.some((pattern) => pattern === branch || new Bun.Glob(pattern).match(branch))) return true;
  if (!patterns.includes(DEFAULT_BRANCH)) return false;
  const args = ["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"];
  const { stdout } = await tryGit(args, { cwd: workspace.root });
  return stdout.toString("utf8").trim() === `refs/remotes/origin/${branch}`;
}
