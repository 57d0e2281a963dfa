/** Resolves a target: a step, `last`, `prev`, a number of turns back, a name, a commit, a checkpoint. */

import { looksLikeStepId } from "../../base/ids.ts";
import { closest } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type Step, TIMELINE_KINDS } from "../../model/step.ts";
import { isTurnStep } from "../../model/turn.ts";
import { stepsIn } from "../../steps/log.ts";

import { type Meaning, RestoreError, type Suggestions } from "../problems.ts";
import type { StateTarget } from "../types.ts";
import { requireLastGreen } from "./check-results.ts";
import { commitOfCheckpoint, findCommit, isStoredCheckpoint } from "./commits.ts";
import { activeSteps, turnAt, turnsBack } from "./history.ts";
import { namedStep } from "./names.ts";
import { sessionsBeginning } from "./sessions.ts";
import { isMarkedCount, isZero, turnCount } from "./words.ts";

const NEAR = 3;
/** The checkpoint branch, local or fetched, and refs of the newer layout. */
const CHECKPOINTS = /^(?:.*\/)?entire\/checkpoints\//;

/** A turn count means the state before that turn. With a session, `last`, `prev` and counts refer to its turns only. */
export async function resolveTarget(workspace: Workspace, text: string, session?: string): Promise<StateTarget> {
  const wanted = text.trim();
  if (wanted === "") throw new RestoreError("usage", { kind: "empty-target" });
  if (wanted === "last") return { kind: "step", step: lastTurn(workspace, session) };
  if (wanted === "prev") return back(workspace, 1, session);
  if (wanted === "last-green") return { kind: "step", step: requireLastGreen(workspace) };
  if (isZero(wanted)) throw countedFromOne(wanted);
  const count = turnCount(wanted);
  const turn = count === null ? undefined : turnsBack(workspace, count, session);
  if (count !== null && isMarkedCount(wanted)) return back(workspace, count, session);
  const other = await otherMeaning(workspace, wanted);
  if (count !== null && turn && "step" in turn) {
    refuseAmbiguous(wanted, count, other);
    return { kind: "step", step: turn.step };
  }
  if (other) return other;
  if (count !== null) throw tooFew(workspace, count, session);
  if (await isStoredCheckpoint(workspace, wanted))
    throw new RestoreError("not-found", { kind: "checkpoint-without-commit", checkpoint: wanted });
  throw notFound(workspace, wanted);
}

/** Resolves a turn itself rather than the state before it: `show 2` shows the turn. */
export async function resolveStep(workspace: Workspace, text: string): Promise<StateTarget> {
  const wanted = text.trim();
  const count = turnCount(wanted);
  const turn = count === null ? undefined : turnAt(workspace, count);
  const step = turn && "steps" in turn ? endOf(turn.steps) : undefined;
  if (count === null || !step) return resolveTarget(workspace, text);
  if (!isMarkedCount(wanted)) refuseAmbiguous(wanted, count, await otherMeaning(workspace, wanted));
  return { kind: "step", step };
}

/** All meanings other than a turn count. */
async function otherMeaning(workspace: Workspace, wanted: string): Promise<StateTarget | undefined> {
  const named = namedStep(workspace, wanted);
  const step = named === undefined && looksLikeStepId(wanted) ? stepsIn(workspace).byId(wanted) : undefined;
  if (step) return { kind: "step", step };
  refuseCheckpoints(wanted);
  // git accepts four characters as an abbreviated commit id.
  const commit = wanted.length < 4 && turnCount(wanted) !== null ? undefined : await findCommit(workspace, wanted);
  if (named && commit) throw ambiguous(wanted, { kind: "named-step", step: named.id }, meaning(commit));
  if (named) return { kind: "step", step: named };
  if (commit) return commit;
  return (await commitOfCheckpoint(workspace, wanted)) ?? sessionPlace(workspace, wanted);
}

function sessionPlace(workspace: Workspace, wanted: string): StateTarget | undefined {
  const [step, ...others] = sessionsBeginning(workspace, wanted);
  if (others.length > 0) throw new RestoreError("usage", { kind: "session-ambiguous", text: wanted });
  return step && { kind: "step", step };
}

/** The end of the newest turn, or its newest step while it runs. Without any turn, the newest step. */
function lastTurn(workspace: Workspace, session?: string): Step {
  const turn = turnAt(workspace, 1, session);
  const [newest] = "steps" in turn ? turn.steps : activeSteps(workspace);
  const step = ("steps" in turn ? endOf(turn.steps) : undefined) ?? newest;
  if (step) return step;
  throw new RestoreError("not-found", {
    kind: "no-turn-here",
    isEmpty: !stepsIn(workspace).has(),
    suggestions: nearby(workspace),
  });
}

function endOf(steps: readonly Step[]): Step | undefined {
  return steps.find(({ kind }) => kind === "turn-end") ?? steps.find(isTurnStep);
}

function back(workspace: Workspace, count: number, session?: string): StateTarget {
  const result = turnsBack(workspace, count, session);
  if ("step" in result) return { kind: "step", step: result.step };
  throw tooFew(workspace, count, session);
}

function tooFew(workspace: Workspace, count: number, session?: string): RestoreError {
  const result = turnsBack(workspace, count, session);
  const available = "available" in result ? result.available : 0;
  return new RestoreError("not-found", { kind: "too-few-turns", count, available, suggestions: nearby(workspace) });
}

export function countedFromOne(text: string): RestoreError {
  return new RestoreError("usage", { kind: "turn-zero", text });
}

function refuseAmbiguous(text: string, count: number, other: StateTarget | undefined): void {
  if (other) throw ambiguous(text, { kind: "turn", count }, meaning(other));
}

function ambiguous(text: string, ...meanings: [Meaning, Meaning]): RestoreError {
  return new RestoreError("usage", { kind: "target-ambiguous", text, meanings });
}

function meaning(place: StateTarget): Meaning {
  if (place.kind === "commit") return { kind: "commit", commit: place.commit };
  const { id, name, session } = place.step;
  return name === null ? { kind: "session", session: session ?? "", step: id } : { kind: "named-step", step: id };
}

function refuseCheckpoints(wanted: string): void {
  if (!CHECKPOINTS.test(wanted)) return;
  throw new RestoreError("usage", { kind: "checkpoint-branch", text: wanted });
}

function notFound(workspace: Workspace, text: string): RestoreError {
  return new RestoreError("not-found", { kind: "target-unknown", text, suggestions: nearby(workspace, text) });
}

function nearby(workspace: Workspace, text?: string): Suggestions {
  const log = stepsIn(workspace);
  const steps = log.list({ worktree: workspace.worktree, kinds: TIMELINE_KINDS, limit: NEAR });
  const names = text === undefined ? [] : log.list().flatMap(({ name }) => (name === null ? [] : [name]));
  const alike = text === undefined ? undefined : closest(text, ["last", "prev", "last-green", ...names]);
  return { closest: alike ?? null, steps: steps.map(({ id }) => id) };
}
