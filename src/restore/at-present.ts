/** What stands at present and a restore of files does not change: agents at work, the branch, what git is in the middle of. */
import { oneLine, shorten, shownPath } from "../base/text.ts";
import type { Snapshot } from "../git/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import { isDead } from "../lifecycle/dead-turns.ts";
import { loadSession, marked } from "../lifecycle/session-state.ts";
import type { RestoreRequest } from "./draw-up.ts";
import type { NotUndone } from "./model.ts";
import { begunBetween } from "./refs-since.ts";

const PROMPT_LENGTH = 60;
const FOREVER = Number.POSITIVE_INFINITY;

export function leftAtPresent(workspace: Workspace, present: Snapshot, request: RestoreRequest): NotUndone[] {
  if (request.kind === "fork") return [];
  return [...atWork(workspace), ...inGit(workspace, present, request)];
}

/** Agents in the middle of a turn: they don't know that files change under them, and write on. */
function atWork(workspace: Workspace): NotUndone[] {
  return marked(workspace, "active").flatMap((key) => {
    const state = loadSession(workspace, key);
    if (!state?.openTurn || isDead(state)) return [];
    const prompt = shorten(oneLine(state.openTurn.prompt ?? ""), PROMPT_LENGTH);
    const what = `${oneLine(state.agent)} at work${prompt === "" ? "" : ` on "${prompt}"`}`;
    return [{ what, why: "its turn has not ended: what it writes from now on stays" }];
  });
}

function inGit(workspace: Workspace, present: Snapshot, { kind, target, options }: RestoreRequest): NotUndone[] {
  if (target.kind === "turns") {
    return target.turns.flatMap(({ first, last, subagent }) => {
      const span = { from: Date.parse((first ?? last).time), to: Date.parse(last.time) };
      const branches = subagent === null && first ? switched(first.branch, last.branch) : [];
      return [...branches, ...begunBetween(workspace, span)];
    });
  }
  if (kind !== "rewind") return [];
  if (target.kind === "commit") return begunBetween(workspace, { from: 0, to: FOREVER });
  const branches = options.resetHead ? [] : switched(target.step.branch, present.branch);
  return [...branches, ...begunBetween(workspace, { from: Date.parse(target.step.time), to: FOREVER })];
}

/** The files go back, and the branch that the next commit goes onto does not. */
function switched(then: string | null, now: string | null): NotUndone[] {
  if (then === now) return [];
  const shown = (branch: string | null) => (branch === null ? "none" : shownPath(branch));
  const what = `The branch that is checked out (${shown(now)}, then ${shown(then)})`;
  return [{ what, why: "it stays, and the next commit goes onto it" }];
}
