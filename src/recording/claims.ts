/**
 * Collects what turns claim: the files that each session's tools wrote, from its steps if its turn has ended, and from
 * its transcript while it runs. The attribution layer decides by these claims.
 */

import { getAgent } from "../agents/registry/registry.ts";
import { ownFiles } from "../attribution/files.ts";
import { type RunningTurn, turnWindows } from "../attribution/turn-windows.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";
import type { FileChanges } from "../model/changes.ts";
import { changedPaths } from "../model/changes.ts";
import { stepsIn } from "../steps/log.ts";
import { relativePaths } from "./relative-paths.ts";
import { keyOf, loadSession, marked, type SessionState } from "./session/store.ts";
import { readTail } from "./transcript-tail.ts";

/** Agents write their transcripts some 100 ms after they act. */
const LATE_MS = 300;
const POLL_MS = 20;

/** The subset of the changes since `since` (an ISO time) that belongs to `own`, whose tools wrote `written`. */
export async function ownChanges(
  workspace: Workspace,
  own: SessionState,
  since: string,
  changes: FileChanges,
  written: ReadonlySet<string>,
): Promise<FileChanges> {
  const doubtful = changedPaths(changes).filter((path) => !written.has(path));
  if (doubtful.length === 0) return changes;
  const finished = finishedTurnsFiles(workspace, own, since);
  const running = marked(workspace, "active").filter((key) => key !== keyOf(own));
  let claims = finished;
  const deadline = performance.now() + LATE_MS;
  while (running.length > 0) {
    const written = await Promise.all(running.map((key) => runningTurnFiles(workspace, key)));
    claims = [...finished, ...written.map((files) => new Set(files))];
    // Another session may have just written an unclaimed file, without having it in its transcript yet.
    if (doubtful.every((path) => claims.some((files) => files.has(path))) || performance.now() >= deadline) break;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return ownFiles(changes, written, claims);
}

/** The files of every other session's turns and subagents that were at work since then and have ended. */
function finishedTurnsFiles(workspace: Workspace, own: SessionState, since: string): ReadonlySet<string>[] {
  return turnWindows(stepsIn(workspace).oldestFirst({ since, worktree: workspace.worktree }))
    .filter(({ turn }) => turn.session !== own.id || turn.agent !== own.agent)
    .map(({ files }) => files);
}

/** Every running turn of the work tree, with the files that its tools have written so far. */
export async function runningTurns(workspace: Workspace): Promise<RunningTurn[]> {
  const turns: RunningTurn[] = [];
  for (const key of marked(workspace, "active")) {
    const state = loadSession(workspace, key);
    if (!state?.openTurn) continue;
    const turn = { agent: state.agent, session: state.id, turn: state.turn };
    turns.push({ turn, files: await runningTurnFiles(workspace, key) });
  }
  return turns;
}

/** Files that the tools of a session's open turn have written so far, according to its transcript. */
export async function runningTurnFiles(workspace: Workspace, key: string): Promise<string[]> {
  const other = loadSession(workspace, key);
  if (!other?.transcript || !other.openTurn) return [];
  try {
    const agent = await getAgent(other.agent);
    const tail = readTail(other.transcript.path, other.transcript, other.openTurn.offset, agent?.analyzer);
    return relativePaths(workspace.root, other.cwd, tail?.slice?.files ?? []);
  } catch (error) {
    logError("reading another session", error);
    return [];
  }
}
