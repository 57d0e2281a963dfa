/** The history from a target to the current files, and which turns in it are still running. */
import { sessionKey } from "../../base/ids.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { loadSession } from "../../recording/session/store.ts";
import { type HistoryItem, historyHere } from "../targets/history.ts";
import type { StateTarget } from "../types.ts";

/** Oldest first; empty if the target is not in this work tree's history. */
export async function historySince(workspace: Workspace, target: StateTarget): Promise<HistoryItem[]> {
  if (target.kind === "step") {
    const { id, worktree } = target.step;
    return worktree === workspace.worktree ? since(workspace, (step) => step.id === id) : [];
  }
  const time = await commitTime(workspace, target.commit);
  return time === undefined ? [] : since(workspace, (step) => Date.parse(step.time) <= time);
}

/** True if the session has not ended this turn. */
export function isRunning(workspace: Workspace, { agent, session, turn }: Pick<Step, "agent" | "session" | "turn">) {
  if (agent === null || session === null) return false;
  const state = loadSession(workspace, sessionKey(agent, session));
  return state?.openTurn != null && state.turn === turn;
}

function since(workspace: Workspace, isOldest: (step: Step) => boolean): HistoryItem[] {
  return [...historyHere(workspace, isOldest)].reverse();
}

/** Undefined if the commit is no ancestor of HEAD: it then says nothing about which turns followed. */
async function commitTime(workspace: Workspace, commit: string): Promise<number | undefined> {
  const git = gitIn(workspace);
  const ancestor = await git.try(["merge-base", "--is-ancestor", commit, "HEAD"]);
  if (ancestor.code !== 0) return undefined;
  const { code, stdout } = await git.try(["log", "-1", "--format=%ct", commit]);
  const seconds = Number(stdout.toString("latin1").trim());
  return code === 0 && seconds > 0 ? seconds * 1000 : undefined;
}
