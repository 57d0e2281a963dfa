/** Resolves names of saved states and detects names that already have a meaning. */
import { looksLikeStepId } from "../../base/ids.ts";
import { isCheckpointName } from "../../checkpoints/format/layout.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type Step, TIMELINE_KINDS } from "../../model/step.ts";
import { stepsIn } from "../../steps/log.ts";

import { RestoreError, type TakenName } from "../problems.ts";
import { findCommit } from "./commits.ts";
import { sessionsBeginning } from "./sessions.ts";
import { isZero, KEYWORDS, turnCount } from "./words.ts";

/** The newest step with that name; this work tree takes precedence. */
export function namedStep(workspace: Workspace, name: string): Step | undefined {
  const steps = stepsIn(workspace).list({ name, kinds: TIMELINE_KINDS });
  return steps.find(({ worktree }) => worktree === workspace.worktree) ?? steps[0];
}

/** Undefined if the name is free. Several steps may share a name. */
export async function meaningOf(workspace: Workspace, name: string): Promise<TakenName | undefined> {
  if (KEYWORDS.includes(name)) return { kind: "keyword" };
  if (turnCount(name) !== null || isZero(name)) return { kind: "count" };
  if (isCheckpointName(name)) return { kind: "checkpoint" };
  const step = looksLikeStepId(name) ? stepsIn(workspace).byId(name) : undefined;
  if (step) return { kind: "step", id: step.id };
  const commit = await findCommit(workspace, name);
  if (commit) return { kind: "commit", id: commit.commit };
  const [session] = sessionsBeginning(workspace, name);
  if (session?.session) return { kind: "session", id: session.session };
  return /^\d+$/.test(name) ? { kind: "count" } : undefined;
}

/** Refuses a name that already has another meaning as a target, because it could never be found again. */
export async function requireFreeName(workspace: Workspace, name: string): Promise<void> {
  const meaning = await meaningOf(workspace, name);
  if (meaning) throw new RestoreError("usage", { kind: "name-taken", name, meaning });
}
