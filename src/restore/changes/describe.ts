/** Describes a plan for the user: the turns it reverts, merges in or brings back, and files with the user's changes. */

import { pathMatcher } from "../../base/fs/glob.ts";
import type { TreeStore } from "../../git/objects/trees.ts";
import type { ObjectWriter } from "../../git/objects/writer.ts";
import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import type { Step } from "../../model/step.ts";
import { stepsIn } from "../../steps/log.ts";
import type { RestoreRequest } from "../plan/plan.ts";
import type { TreeState } from "../revert/revert.ts";
import type { HistoryItem } from "../targets/history.ts";
import type { TurnName } from "../targets/turns.ts";
import type { StateTarget, TurnsTarget, YourFile } from "../types.ts";
import { historySince, isRunning } from "./history.ts";
import { type PassedTurn, type PlannedTurn, passedTurns, plannedTurn, turnsToPlan, undoneBefore } from "./turns.ts";
import { ownChangesSince } from "./yours.ts";

export interface Description {
  /** Newest first. */
  turns: PlannedTurn[];
  /** Undone turns that are in the files again, because a rewind goes to before their undo; newest first. */
  bringsBack?: PlannedTurn[];
  /** A subset of `touched`, in the same order. */
  yours: YourFile[];
}

/** `touched`: the files the plan changes. */
export async function describe(
  workspace: Workspace,
  objects: { trees: TreeStore; writer: ObjectWriter },
  current: TreeState,
  { kind, target, options, merge }: RestoreRequest,
  touched: readonly string[],
): Promise<Description> {
  if (kind === "fork" || options.chatOnly) return { turns: [], yours: [] };
  if (target.kind === "turns" && target.fork !== undefined) return { turns: target.brought ?? [], yours: [] };
  const place = target.kind === "turns" ? startOf(target) : target;
  const history = place ? await historySince(workspace, place) : [];
  const passed = passedTurns(history, (turn) => isRunning(workspace, turn));
  const own = await ownChangesSince(workspace, objects, history, passed, current);
  const yours = touched.flatMap((path) => {
    const change = own.get(path);
    return change ? [{ ...change, kept: merge !== null }] : [];
  });
  if (target.kind === "turns") return { turns: target.turns.map(plannedTurn), yours };
  // A merging redo reverts no turns.
  const isLeftAlone = kind === "redo" && merge !== null;
  const turns = isLeftAlone ? [] : turnsWithin(passed, options.paths);
  const bringsBack =
    kind === "rewind" && merge === null ? undonesWithin(workspace, history, passed, options.paths) : [];
  return { turns, yours, ...(bringsBack.length > 0 ? { bringsBack } : {}) };
}

/** Turns from before the history, undone within it. With patterns, only turns that changed a matching file. */
function undonesWithin(
  workspace: Workspace,
  history: readonly HistoryItem[],
  passed: readonly PassedTurn[],
  patterns: readonly string[] | undefined,
): PlannedTurn[] {
  const isChosen = patterns && patterns.length > 0 ? pathMatcher(patterns) : () => true;
  return undoneBefore(history, passed).flatMap((name) => {
    const end = endOf(workspace, name);
    if (!end || (end.files !== null && !changedPaths(end.files).some(isChosen))) return [];
    return [{ ...name, id: end.id, prompt: end.prompt, partial: false, running: false }];
  });
}

function endOf(workspace: Workspace, { agent, session, turn, subagent }: TurnName): Step | undefined {
  return stepsIn(workspace)
    .newestFirst({ worktree: workspace.worktree, agent, session })
    .find((step) => {
      if (step.turn !== turn) return false;
      return subagent === null
        ? step.kind === "turn-end"
        : step.subagent?.id === subagent && step.subagent.when === "end";
    });
}

/** With patterns, only turns that changed a matching file. */
function turnsWithin(passed: readonly PassedTurn[], patterns: readonly string[] | undefined): PlannedTurn[] {
  const isChosen = patterns && patterns.length > 0 ? pathMatcher(patterns) : undefined;
  const chosen = passed.filter(({ running, last: { kind, files } }) => {
    if (!isChosen || running || kind !== "turn-end") return true;
    return changedPaths(files).some(isChosen);
  });
  return turnsToPlan(chosen);
}

/** The state before the oldest turn. */
function startOf({ turns }: TurnsTarget): StateTarget | undefined {
  const first = turns.map(({ first: step }) => step).sort((a, b) => ((a?.time ?? "") < (b?.time ?? "") ? -1 : 1))[0];
  return first ? { kind: "step", step: first } : undefined;
}
