/** Reports current conditions that a restore does not change: agents at work, the branch, unfinished git operations. */
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import { isDead } from "../../recording/orphaned-turns.ts";
import { loadSession, marked } from "../../recording/session/store.ts";
import type { RestoreRequest } from "../plan/plan.ts";
import { operationsBegunIn } from "./git-refs.ts";
import type { SideEffect } from "./model.ts";

const FOREVER = Number.POSITIVE_INFINITY;

export function inProgressEffects(workspace: Workspace, present: Snapshot, request: RestoreRequest): SideEffect[] {
  if (request.kind === "fork") return [];
  return [...atWork(workspace), ...inGit(workspace, present, request)];
}

/** Agents in the middle of a turn, which will not notice that files change and keep writing. */
function atWork(workspace: Workspace): SideEffect[] {
  return marked(workspace, "active").flatMap((key) => {
    const state = loadSession(workspace, key);
    if (!state?.openTurn || isDead(state)) return [];
    return [{ kind: "agent-running", agent: state.agent, prompt: state.openTurn.prompt }];
  });
}

function inGit(workspace: Workspace, present: Snapshot, { kind, target, options }: RestoreRequest): SideEffect[] {
  if (target.kind === "turns") {
    return target.turns.flatMap(({ first, last, subagent }) => {
      const span = { from: Date.parse((first ?? last).time), to: Date.parse(last.time) };
      const branches = subagent === null && first ? switched(first.branch, last.branch) : [];
      return [...branches, ...operationsBegunIn(workspace, span)];
    });
  }
  if (kind !== "rewind") return [];
  if (target.kind === "commit") return operationsBegunIn(workspace, { from: 0, to: FOREVER });
  const branches = options.resetHead ? [] : switched(target.step.branch, present.branch);
  return [...branches, ...operationsBegunIn(workspace, { from: Date.parse(target.step.time), to: FOREVER })];
}

/** The files are restored, but the branch for the next commit is not. */
function switched(then: string | null, now: string | null): SideEffect[] {
  return then === now ? [] : [{ kind: "branch-switched", then, now }];
}
